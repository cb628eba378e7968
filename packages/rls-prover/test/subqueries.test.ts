import { openOf, startProving } from './support.ts';

// Queries that stand for one value, or for the rows of a function.

let proving: Awaited<ReturnType<typeof startProving>>;
beforeAll(async () => {
  proving = await startProving();
});
afterAll(() => proving.stop());

const sessions = `
  create table app.sessions (id uuid primary key, tenant_id uuid not null, v1 uuid not null, v2 uuid not null);
  grant select on app.sessions to member;
  create function app.session() returns uuid language sql stable as $$ select nullif(current_setting('app.user_id', true), '')::uuid $$;
  grant execute on function app.session() to member`;
const functionOf = (name: string, result: string, query: string) => `
  create function app.${name}() returns ${result} language sql stable security definer set search_path = pg_catalog, pg_temp
    as $$ ${query} $$; grant execute on function app.${name}() to member`;
const byId = 'select s.tenant_id from app.sessions s where s.id = app.session()';

/** The open judgements of a policy, by an invariant. */
const openBy = async (using: string, expression: string, functions: readonly string[] = []) =>
  openOf(
    await proving.judgeAfter(
      [sessions, ...functions, `alter policy users_of_tenant on app.users using (${using})`].join(';'),
      {
        isAsked: ({ relation, command }) => relation === 'app.users' && command === 'select',
        invariants: [{ name: 'tenant', relation: 'app.users', expression }],
      },
    ),
  ).filter((line) => line.startsWith('tenant: '));

const open = [expect.stringMatching(/^tenant: select on app.users/)];

test.each([
  ['of the same row', byId, byId],
  ['of another order', `${byId} order by s.v1`, `${byId} order by s.v2`],
  ['of another column, whatever its name', 'select s.v1 from app.sessions s', 'select s.v2 from app.sessions s'],
  ['of another row', byId, byId.replace('s.id =', 's.v1 =')],
  ['of any row', `${byId} limit 1`, `${byId} limit 1`],
])('a query %s may be another value', async (_what, first, second) => {
  const functions = [functionOf('first', 'uuid', first), functionOf('second', 'uuid', second)];

  expect(await openBy('tenant_id = app.first()', 'old.tenant_id = app.second()', functions)).toEqual(open);
});

test('a query is a value of its rows', async () => {
  const mine = '(select s.tenant_id from app.sessions s where s.id = app.session())';
  const isMine = 'exists (select from app.sessions s where s.id = app.session() and s.tenant_id = old.tenant_id)';

  expect(await openBy(`tenant_id = ${mine}`, isMine)).toEqual([]);
  expect(await openBy(`tenant_id = ${mine.replace('s.id =', 's.id <>')}`, isMine)).toEqual(open);
});

describe('a function that returns a set', () => {
  const mine = (where: string) =>
    functionOf('mine', 'setof uuid', `select s.tenant_id from app.sessions s where ${where}`);
  const isMine = `exists (select from app.sessions s where s.id = app.session() and s.tenant_id = old.tenant_id)`;

  test.each([
    ['in', 'tenant_id in (select app.mine())'],
    ['any', 'tenant_id = any (select app.mine())'],
    ['any of an array', 'tenant_id = any (array(select app.mine()))'],
  ])('yields the rows of its query: %s', async (_what, using) => {
    expect(await openBy(using, isMine, [mine('s.id = app.session()')])).toEqual([]);
    expect(await openBy(using, isMine, [mine('s.id is not null')])).toEqual(open);
  });

  test('casts what its query yields to what it returns', async () => {
    const numbers = `create table app.numbers (n numeric not null); grant select on app.numbers to member; alter table app.users add column size int not null default 0;
      ${functionOf('sizes', 'setof int', 'select n from app.numbers')}`;

    // 2.4 is 2 for the function, and no number of the table.
    expect(await openBy('size in (select app.sizes())', 'old.size in (select n from app.numbers)', [numbers])).toEqual(
      open,
    );
    expect(
      await openBy('size::numeric in (select n from app.numbers)', 'old.size::numeric in (select n from app.numbers)', [
        numbers,
      ]),
    ).toEqual([]);
  });

  test.each([
    ['several queries', mine('s.id = app.session()').replace('select s', 'select 1; select s')],
    ['a volatile function', mine('s.id = app.session()').replace('stable', 'volatile')],
  ])('is not looked into: %s', async (_what, functions) => {
    expect(await openBy('tenant_id in (select app.mine())', isMine, [functions])).toEqual(open);
  });
});
