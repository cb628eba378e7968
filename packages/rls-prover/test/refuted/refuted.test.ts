import { isOpen, type Judgement } from 'rls-prover';
import { acceptances } from './acceptances.ts';
import { casts } from './casts.ts';
import { catalogue } from './catalogue.ts';
import { crashes } from './crashes.ts';
import { depth } from './depth.ts';
import { facts } from './facts.ts';
import { labels } from './labels.ts';
import { manual } from './manual.ts';
import { names } from './names.ts';
import { nodes } from './nodes.ts';
import { acceptOpen, attack, type Refuted, startRefuting } from './support.ts';
import { twins } from './twins.ts';
import { understood } from './understood.ts';
import { views } from './views.ts';

/** Kinds of proofs that were false. PostgreSQL's rows show each violation first. */
const kinds: Readonly<Record<string, readonly Refuted[]>> = {
  'what the catalogue has beside tables': catalogue,
  'attributes of nodes': nodes,
  'facts that do not hold at each moment': facts,
  'labels that are believed': labels,
  names,
  depth,
  'casts and values': casts,
  acceptances,
  'errors instead of judgements': crashes,
  'the manual: rights, roles, functions, writes': manual,
  'the manual: views, nulls, values': views,
  'constructs that are understood': understood,
};

let refuting: Awaited<ReturnType<typeof startRefuting>>;
let version = 0;
const counts = new Map(Object.keys(kinds).map((kind) => [kind, { violations: 0, proven: [] as string[] }]));
beforeAll(async () => {
  refuting = await startRefuting();
  version = await refuting.version();
});
afterAll(async () => {
  await refuting.stop();
  process.stdout.write(`${tableOf(counts)}\n`);
});

const openOf = (judgements: readonly Judgement[]) =>
  judgements
    .filter(isOpen)
    .map(({ invariant, command, relation, why }) => `${invariant}: ${command} on ${relation}: ${why}`);

/** Judges the schema; with a change, after everything open before it was accepted. */
const judge = (refuted: Refuted) =>
  refuting.after(refuted.schema, async (client) => {
    if (refuted.change === undefined) return refuting.judge(client, refuted);
    const readAccepted = await acceptOpen(client, await refuting.judge(client, refuted));
    expect(openOf(await refuting.judge(client, refuted, await readAccepted()))).toEqual([]);
    await client.query(refuted.change);
    return refuting.judge(client, refuted, await readAccepted());
  });

describe.each(Object.entries(kinds))('%s', (kind, cases) => {
  test.each(cases)('$title', async (refuted) => {
    const count = counts.get(kind);
    if (version < (refuted.since ?? 0) || !count) return;

    const shown = await refuting.after(`${refuted.schema}; ${refuted.change ?? ''}`, (client) =>
      attack(client, refuted),
    );
    expect(shown).toEqual({ ...shown, isViolation: true });
    count.violations += 1;

    const open = openOf(await judge(refuted));
    if (open.length === 0) count.proven.push(refuted.title);
    expect(open).not.toEqual([]);
  });

  const changes = cases.filter(({ change }) => change !== undefined);
  if (changes.length > 0)
    test.each(changes)('no violation before the change: $title', async (refuted) => {
      const shown = await refuting.after(refuted.schema, (client) => attack(client, refuted));

      expect(shown).toEqual({ ...shown, isViolation: false });
    });
});

describe('twins without a violation', () => {
  test.each(twins)('$title', async (twin) => {
    if (version < (twin.since ?? 0)) return;

    const shown = await refuting.after(twin.schema, (client) => attack(client, twin));
    expect(shown).toEqual({ ...shown, isViolation: false });

    const open = openOf(await judge(twin));
    if (twin.isProven) expect(open).toEqual([]);
  });
});

test('titles tell the cases from each other', () => {
  const titles = [...Object.values(kinds).flat(), ...twins].map(({ title }) => title);

  expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
});

function tableOf(rows: ReadonlyMap<string, { violations: number; proven: readonly string[] }>): string {
  const lines = [...rows].flatMap(([kind, { violations, proven }]) => [
    `${kind.padEnd(48)} ${String(violations).padStart(10)} ${String(proven.length).padStart(6)}`,
    ...proven.map((title) => `    proven: ${title}`),
  ]);
  return [`${'kind'.padEnd(48)} violations proven`, ...lines].join('\n');
}
