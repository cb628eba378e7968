import { requestRoles } from '../../../database/roles/authenticator.ts';
import { document, table } from '../markdown.ts';
import { rolledBack } from '../rolledBack.ts';
import type { Answer, AuditedDatabase } from '../withAuditedDatabase.ts';
import { type Judgement, judge } from './judge.ts';
import { loadParser } from './parse.ts';
import { openSolver } from './solver.ts';

/**
 * `audit prove`: proves each row of `audit.invariants` for every table and view, command and client role.
 *
 * @returns as findings what is neither proven nor accepted with a reason
 * @throws {StartupError} when a development dependency is missing
 */
export async function prove({ pool }: AuditedDatabase): Promise<Answer> {
  const [parser, solver] = [await loadParser(), await openSolver()];
  try {
    return await rolledBack(pool, async (client) =>
      report(await judge(client, requestRoles, { parser, solver }, async () => null)),
    );
  } finally {
    await solver.close();
  }
}

function report(judgements: readonly Judgement[]): Answer {
  const rest = judgements.filter(({ isByPrivilege }) => !isByPrivilege);
  const rows = rest.map(({ invariant, relation, command, role, verdict, why }) => ({ invariant, relation, command, role, verdict, why }));
  const open = judgements.filter(({ verdict, accepted }) => verdict !== 'proven' && accepted === null);
  return { text: document('# Proofs', table(rows, 'None.')), findings: open.length };
}
