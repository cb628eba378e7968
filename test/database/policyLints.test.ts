import { undone } from '../audit/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

// Policies that let a request into another organization, and beside each how it may be written.

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const lints = 'select name, object from audit.claim_lints order by name, object';
/** One of them, as the others take longer. */
const lint = (name: string) => `select name, object from audit.claim_lints where name = '${name}' order by object`;
const claim = 'organization_id = (select app_hidden.current_organization_id())';

const select = (expression: string) => `alter policy select_graph_app on app_public.cards using (${expression})`;
const insert = (expression: string) => `alter policy insert_graph_app on app_public.users with check (${expression})`;
/** Which parts of the policy do not compare the organization. */
const partsOfCards = `
  select audit.parts_without_organization(oid) as parts from pg_policy
  where polrelid = 'app_public.cards'::regclass and polname = 'select_graph_app'`;
const onCards = { name: 'policy_without_organization', object: 'select_graph_app on app_public.cards' };
const onUsers = { name: 'policy_without_organization', object: 'insert_graph_app on app_public.users' };

describe('policy_without_organization', () => {
  test.each([
    ['true'],
    ['organization_id = organization_id'],
    [`${claim} or true`],
    [`${claim} or name = 'x'`],
    [`not (${claim})`],
    [`organization_id <> (select app_hidden.current_organization_id())`],
    [`organization_id >= (select app_hidden.current_organization_id())`],
    [`organization_id is not distinct from (select app_hidden.current_organization_id())`],
    [`organization_id = coalesce((select app_hidden.current_organization_id()), organization_id)`],
    [`organization_id = (select coalesce(app_hidden.current_organization_id(), organization_id))`],
    [`coalesce(organization_id = app_hidden.current_organization_id(), true)`],
    [`id = (select app_hidden.current_organization_id())`],
    [`organization_id = (select app_hidden.current_user_id())`],
    [`organization_id = (select nullif(current_setting('graph.user_id', true), '')::uuid)`],
    [`organization_id = any (array(select organization_id from app_public.users))`],
    [`exists (select from app_public.users u where u.${claim} and u.organization_id = cards.organization_id)`],
    [`exists (select from app_public.users u where u.${claim})`],
    [`case when ${claim} then true else true end`],
    [`(${claim} and name = 'x') or name = 'y'`],
    [`(${claim} and true, 1) = (true, 1)`],
    [`(${claim}) is not null`],
    [`name = '(organization_id = app_hidden.current_organization_id()) AND '`],
  ])('finds using (%s)', async (expression) => {
    // Without the other lints, which take a tenth of a second.
    expect(await undone(database.owner, select(expression), partsOfCards)).toEqual([{ parts: 'using' }]);
  });

  test('is a lint of the policy', async () => {
    expect(await undone(database.owner, select('true'), lints)).toContainEqual(onCards);
  });

  test.each([
    ['false'],
    [claim],
    [`(select app_hidden.current_organization_id()) = organization_id`],
    ['organization_id = app_hidden.current_organization_id()'],
    [`organization_id = (select nullif(current_setting('graph.organization_id', true), '')::uuid)`],
    [`${claim} and (name = 'x' or true)`],
    [`name = 'x' and (name <> 'y' and ${claim})`],
  ])('takes using (%s)', async (expression) => {
    expect(await undone(database.owner, select(expression), lints)).toEqual([]);
  });

  test.each([
    ['a function that ignores the claim', `organization_id = (select app_public.own_organization(organization_id))`],
    [
      'a function of the same name in another schema',
      'organization_id = (select app_public.current_organization_id())',
    ],
    ['an operator of its own', 'organization_id operator(app_public.=) (select app_hidden.current_organization_id())'],
  ])('finds %s', async (_, expression) => {
    const made = `
      create function app_public.own_organization(id uuid) returns uuid language sql stable as 'select id';
      create function app_public.current_organization_id() returns uuid language sql stable as 'select null::uuid';
      create function app_public.same(a uuid, b uuid) returns boolean language sql stable as 'select true';
      create operator app_public.= (leftarg = uuid, rightarg = uuid, function = app_public.same)`;

    expect(await undone(database.owner, made, select(expression), lints)).toContainEqual(onCards);
  });

  test('takes the claim for it with any search path', async () => {
    const path = 'set local search_path = app_hidden, app_public, pg_catalog';
    const found = await undone(database.owner, path, lints);

    expect(found.filter(({ name }) => name === onCards.name)).toEqual([]);
    expect(await undone(database.owner, path, select('true'), lints)).toContainEqual({
      ...onCards,
      object: 'select_graph_app on cards',
    });
  });

  test('finds a policy that checks new rows by something else, and one that checks them by the rows that it shows', async () => {
    expect(await undone(database.owner, insert('full_name is not null'), lints)).toEqual([onUsers]);
    expect(await undone(database.owner, insert(`${claim} and full_name is not null`), lints)).toEqual([]);

    const all = (check: string) =>
      `create policy all_graph_app on app_public.cards for all to graph_app using (${claim}) ${check}`;
    const object = 'all_graph_app on app_public.cards';
    expect(await undone(database.owner, all(`with check (name = 'x')`), lints)).toEqual([{ ...onCards, object }]);
    expect(await undone(database.owner, all(''), lints)).toEqual([]);
  });

  test('takes a restrictive policy that compares for all of the same roles, and no other', async () => {
    const restrictive = (what: string) =>
      `create policy tenant on app_public.cards as restrictive ${what} using (${claim})`;
    const lax = select('id is not null');

    expect(await undone(database.owner, lax, lints)).toEqual([onCards]);
    expect(await undone(database.owner, lax, restrictive('to public'), lints)).toEqual([]);
    expect(await undone(database.owner, lax, restrictive('for select to graph_user, graph_app'), lints)).toEqual([]);
    expect(await undone(database.owner, lax, restrictive('for update to graph_app'), lints)).toEqual([onCards]);
    expect(await undone(database.owner, lax, restrictive('to graph_user'), lints)).toEqual([onCards]);
    expect(
      await undone(
        database.owner,
        lax,
        `create policy tenant on app_public.cards as restrictive to graph_app using (true)`,
        lints,
      ),
    ).toEqual([onCards]);
  });

  test('a policy that is restrictive itself is none', async () => {
    const open = 'create policy more on app_public.cards as restrictive for select to graph_app using (true)';

    expect(await undone(database.owner, open, lints)).toEqual([]);
  });

  test('finds it for a role that a role of requests is in, however far, and not for others', async () => {
    const groups = 'create role test_readers; create role test_all_readers; grant test_readers to graph_user';
    const policy = (role: string) =>
      `create policy readers on app_public.cards for select to ${role} using (id is not null)`;
    const object = 'readers on app_public.cards';

    expect(await undone(database.owner, groups, policy('test_readers'), lints)).toEqual([{ ...onCards, object }]);
    expect(await undone(database.owner, groups, policy('test_all_readers'), lints)).toEqual([]);
    expect(
      await undone(database.owner, groups, 'grant test_all_readers to test_readers', policy('test_all_readers'), lints),
    ).toEqual([{ ...onCards, object }]);
  });

  test('finds it on a partition, and by way of a right to one column only', async () => {
    const partitions = `
      create table app_public.days (organization_id uuid not null, day date not null) partition by range (day);
      create table app_public.days_1 partition of app_public.days default;
      alter table app_public.days_1 enable row level security;
      grant select (day) on app_public.days_1 to graph_app`;
    const policy = (expression: string) =>
      `create policy select_graph_app on app_public.days_1 for select to graph_app using (${expression})`;

    expect(await undone(database.owner, partitions, policy('day is not null'), lints)).toEqual([
      { ...onCards, object: 'select_graph_app on app_public.days_1' },
    ]);
    expect(await undone(database.owner, partitions, policy(claim), lints)).toEqual([]);
  });

  test('asks nothing of a table without organization_id', async () => {
    const levels = `
      create table app_public.levels (id uuid primary key, is_shown boolean);
      alter table app_public.levels enable row level security;
      create policy select_graph_app on app_public.levels for select to graph_app using (is_shown)`;

    expect(await undone(database.owner, levels, lints)).toEqual([]);
  });
});

describe('policy_always_true', () => {
  const levels = (expression: string, role = 'graph_app') => `
    create table app_public.levels (id uuid primary key, is_shown boolean);
    alter table app_public.levels enable row level security;
    create policy select_levels on app_public.levels for select to ${role} using (${expression})`;
  const found = [{ name: 'policy_always_true', object: 'select_levels on app_public.levels' }];

  test.each([
    ['true'],
    ['is_shown or true'],
    ['true or (is_shown and id is not null)'],
    ['1 = 1'],
    ["'a'::text <> 'b'::text"],
    ['not false'],
  ])('finds using (%s) for select', async (expression) => {
    expect(await undone(database.owner, levels(expression), lint('policy_always_true'))).toEqual(found);
  });

  test.each([
    ['false'],
    ['is_shown'],
    ['is_shown and true'],
    ['id is not null and (is_shown or true)'],
    ["(select current_setting('graph.scope', true)) = 'app'"],
    ["'x) OR true OR (' = (select current_setting('graph.scope', true))"],
  ])('takes using (%s)', async (expression) => {
    expect(await undone(database.owner, levels(expression), lint('policy_always_true'))).toEqual([]);
  });

  test('is for roles of requests', async () => {
    expect(await undone(database.owner, levels('true', 'graph_user, graph_admin'), lint('policy_always_true'))).toEqual(
      found,
    );
    expect(await undone(database.owner, levels('true', 'graph_admin'), lint('policy_always_true'))).toEqual([]);
  });
});
