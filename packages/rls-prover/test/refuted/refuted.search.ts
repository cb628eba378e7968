import { isOpen, type Judgement } from 'rls-prover';
import { isWhole } from '../../../../test/support/search.ts';
import { acceptances } from './acceptances.ts';
import { casts } from './casts.ts';
import { catalogue } from './catalogue.ts';
import { crashes } from './crashes.ts';
import { depth } from './depth.ts';
import { facts } from './facts.ts';
import { labels } from './labels.ts';
import { last, lastTwins } from './last.ts';
import { lastChanges } from './lastChanges.ts';
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
  'written last': [...last, ...lastChanges],
};

let refuting: Awaited<ReturnType<typeof startRefuting>>;
let version = 0;
beforeAll(async () => {
  refuting = await startRefuting();
  version = await refuting.version();
});
afterAll(() => refuting.stop());

/** Every tenth; all of them in `npm run test:system`. */
const part = <One extends { title: string }>(cases: readonly One[]) =>
  cases.filter((_, index) => isWhole || index % 10 === 5);
const isOfVersion = ({ since = 0 }: { since?: number }) => version >= since;

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

describe.each(Object.entries(kinds))('%s', (_kind, cases) => {
  test.each(part(cases))('$title', async (refuted) => {
    if (!isOfVersion(refuted)) return;

    const shown = await refuting.after(`${refuted.schema}; ${refuted.change ?? ''}`, (client) =>
      attack(client, refuted),
    );
    expect(shown).toEqual({ ...shown, isViolation: true });
    if (refuted.change !== undefined) {
      const before = await refuting.after(refuted.schema, (client) => attack(client, refuted));
      expect(before).toEqual({ ...before, isViolation: false });
    }

    expect(openOf(await judge(refuted))).not.toEqual([]);
  });
});

test.each(part([...twins, ...lastTwins]))('has no violation: $title', async (twin) => {
  if (!isOfVersion(twin)) return;

  const shown = await refuting.after(twin.schema, (client) => attack(client, twin));
  expect(shown).toEqual({ ...shown, isViolation: false });

  const open = openOf(await judge(twin));
  if (twin.isProven) expect(open).toEqual([]);
});

test('titles tell the cases from each other', () => {
  const titles = [...Object.values(kinds).flat(), ...twins, ...lastTwins].map(({ title }) => title);

  expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
});
