import { isWhole } from '../../../../test/support/search.ts';
import { startProving } from '../support.ts';
import { across } from './cascades.ts';
import { nested, overloads } from './functions.ts';
import { inheritance } from './inheritance.ts';
import { openAfter } from './show.ts';
import { columns } from './triggers.ts';
import type { Tries } from './try.ts';
import { leaks, materialized } from './views.ts';

// The tries are judged once more where the names of schema, tables, a column and the role need quotes.
const tries = [across, nested, overloads, inheritance, columns, leaks, materialized].flatMap((group: Tries) =>
  Object.entries(group),
);
const part = tries.filter((_, index) => isWhole || index % 20 === 0);

const names: readonly (readonly [RegExp, string])[] = [
  // The settings of claims keep their names.
  [/\bapp\.(?!(tenant|user)_id\b(?!\())/g, '"An.App".'],
  [/(?<=\bschema |\bsearch_path = )app\b/g, '"An.App"'],
  [/\busers\b/g, '"Users"'],
  [/\bnotes\b/g, '"No""tes"'],
  [/\bauthor_id\b/g, '"author.id"'],
];
const quote = (sql: string) => names.reduce((text, [plain, quoted]) => text.replaceAll(plain, quoted), sql);

let plain: Awaited<ReturnType<typeof startProving>>;
let quoted: Awaited<ReturnType<typeof startProving>>;
beforeAll(async () => {
  plain = await startProving();
  quoted = await startProving({ rename: quote, prefix: 'Member of ' });
});
afterAll(() => Promise.all([plain.stop(), quoted.stop()]));

/** Without the reasons, which show the names; a quote stands before a letter in their order. */
const verdicts = (lines: readonly string[]) => lines.map((line) => line.split(': ').slice(0, 3).join(': ')).toSorted();

it('nothing is open in the schema as it is', async () => {
  expect(await openAfter(quoted, { given: '' })).toEqual([]);
});

it.each(part)('%s', async (_name, one) => {
  const invariants = one.invariants?.map((invariant) => ({
    ...invariant,
    expression: quote(invariant.expression),
    ...(invariant.relation && { relation: quote(invariant.relation) }),
  }));

  const judged = await openAfter(quoted, { ...one, ...(invariants && { invariants }) });

  expect(verdicts(judged)).toEqual(verdicts((await openAfter(plain, one)).map(quote)));
});
