import { isWhole } from '../../../../test/support/search.ts';
import { startProving } from '../support.ts';
import { across, within } from './cascades.ts';
import { aggregates, nested, overloads, texts as textsOfFunctions } from './functions.ts';
import { inheritance } from './inheritance.ts';
import { rights } from './rights.ts';
import { sets } from './sets.ts';
import { openAfter, show } from './show.ts';
import { columns, texts as textsOfTriggers } from './triggers.ts';
import type { Tries } from './try.ts';
import { unwritten } from './unwritten.ts';
import { composites } from './values.ts';
import { leaks, materialized, owners, subqueries } from './views.ts';

/** Every so many; all of them in `npm run test:system`. */
const part = (tries: Tries) => Object.entries(tries).filter((_, index) => isWhole || index % 8 === 0);

let proving: Awaited<ReturnType<typeof startProving>>;
beforeAll(async () => {
  proving = await startProving();
});
afterAll(() => proving.stop());

it('proves the schema without any of them', async () => {
  expect(await openAfter(proving, { given: '' })).toEqual([]);
});

// PostgreSQL's rows are the judge: without a counterexample a try shows nothing.
describe.each<[string, Tries]>([
  ['an action of a foreign key within a tenant', within],
  ['an action of a foreign key across tenants', across],
  ['a child of a table', inheritance],
  ['a function that another one calls', nested],
  ['a function that is called without saying so', unwritten],
  ['an aggregate', aggregates],
  ['a call', overloads],
  ['a function that changes who the client is', textsOfFunctions],
  ['a materialized view', materialized],
  ['a view without a barrier', leaks],
  ['an owner of a view', owners],
  ['a subquery of a view', subqueries],
  ['a function that returns a set', sets],
  ['a composite value', composites],
  ['a trigger that changes who the client is', textsOfTriggers],
  ['a column that is not granted', columns],
  ['a right beside policies', rights],
])('%s breaks an invariant, and is not proven, which', (_what, tries) => {
  it.each(part(tries))('%s', async (_name, one) => {
    expect(await show(proving, one)).toMatchObject({ isShown: true });

    expect((await openAfter(proving, one)).filter((line) => one.names.test(line))).not.toEqual([]);
  });
});
