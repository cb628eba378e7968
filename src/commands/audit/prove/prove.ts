import type { Judgement, Mutation } from 'rls-prover';
import { rolledBack } from '../../../database/pool/transactions.ts';
import { createProgress } from '../../progress.ts';
import { document, type Row, table } from '../markdown.ts';
import type { Answer, AuditedDatabase } from '../withAuditedDatabase.ts';
import { loadProver } from './loadProver.ts';
import { readOptions } from './readOptions.ts';
import { weakeningsOf } from './weakenings.ts';

/**
 * `audit prove`: proves `audit.invariants` for every table and view, command and client role.
 *
 * @returns as findings what is neither proven nor accepted with a reason
 * @throws {StartupError} when a development dependency is missing
 */
export async function prove(
  { pool }: AuditedDatabase,
  { mutate: isMutating = false }: { mutate?: boolean } = {},
): Promise<Answer> {
  const { isOpen, openProver, prove: judge, mutate } = await loadProver();
  const progress = createProgress();
  const onProgress = (done: number, total: number, what: string) => progress.report(done, total, `${what} asked about`);
  const prover = await openProver();
  try {
    return await rolledBack(pool, async (client) => {
      const options = { ...(await readOptions(client)), onProgress };
      const judgements = await judge(options, prover);
      const answer = report(judgements, judgements.filter(isOpen));
      if (!isMutating) return answer;
      const score = reportMutations(await mutate({ ...options, ...weakeningsOf(client) }, prover));
      return { text: document(answer.text, score), findings: answer.findings };
    });
  } finally {
    progress.end();
    await prover.close();
  }
}

function reportMutations(mutations: readonly Mutation[]): string {
  const noticed = mutations.filter(({ survives }) => survives === null);
  const by = (kind: string) =>
    noticed.filter(({ noticedBy }) => noticedBy.some((name) => name.startsWith(kind))).length;
  const survivors = mutations.filter(({ survives }) => survives !== null);
  return document(
    '# Mutations',
    `${noticed.length} of ${mutations.length} are noticed: ${by('proof')} by a proof, ${by('lint')} of the others by a lint. ${survivors.length} survive.`,
    '## Survivors',
    table(
      survivors.map(({ mutant, survives }) => ({ mutant, reason: survives })),
      'None.',
    ),
    '## Noticed',
    table(
      noticed.map(({ mutant, noticedBy }) => ({
        mutant,
        'noticed by':
          noticedBy.slice(0, 2).join('; ') + (noticedBy.length > 2 ? `; and ${noticedBy.length - 2} more` : ''),
      })),
      'None.',
    ),
  );
}

function report(judgements: readonly Judgement[], open: readonly Judgement[]): Answer {
  const proven = judgements.filter(({ verdict }) => verdict === 'proven');
  const [byPrivilege, bySolver] = [
    proven.filter((one) => one.isByPrivilege),
    proven.filter((one) => !one.isByPrivilege),
  ];
  const accepted = judgements.filter(({ accepted }) => accepted !== null);
  const text = document(
    '# Proofs',
    `${proven.length} proven: ${bySolver.length} by the solver, ${byPrivilege.length} by privileges alone. ` +
      `${accepted.length} accepted with a reason. ${open.length} open.`,
    '## Open',
    table(
      open.map((one) => ({ ...judgementRow(one), remedy: one.remedy })),
      'None.',
    ),
    '## Accepted',
    table(accepted.map(judgementRow), 'None.'),
    '## Proven by the solver',
    table(bySolver.map(judgementRow), 'None.'),
    '## Proven by privileges alone',
    table(gathered(byPrivilege), 'None.'),
  );
  return { text, findings: open.length };
}

const judgementRow = ({ invariant, relation, command, role, verdict, why, accepted }: Judgement): Row => ({
  ...{ invariant, relation, command, role, verdict },
  why: accepted ?? why,
});

/** One line for all that a role may not do with a relation, or finds no row by. */
function gathered(judgements: readonly Judgement[]): Row[] {
  const groups = Map.groupBy(judgements, ({ relation, role, why }) => [relation, role, why].join('\n'));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    const distinct = (name: 'invariant' | 'command') => [...new Set(group.map((one) => one[name]))].join(', ');
    return first ? [judgementRow({ ...first, invariant: distinct('invariant'), command: distinct('command') })] : [];
  });
}
