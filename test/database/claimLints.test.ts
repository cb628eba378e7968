import { undone } from '../audit/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

// What lets a request pass for another, or into another organization, and beside each how it may be written.

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

test('finds nothing in the schema as it is', async () => {
  expect(await undone(database.owner, lints)).toEqual([]);
});

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

describe('claim_of_its_own', () => {
  const claims = (body: string) => `
    create or replace function app_hidden.current_organization_id() returns uuid
    language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$ ${body} $$`;

  test.each([
    ['begin return (select id from app_hidden.organizations limit 1); end'],
    ["begin return nullif(current_setting('graph.user_id', true), ''); end"],
    [
      "begin return coalesce(nullif(current_setting('graph.organization_id', true), ''), '00000000-0000-7000-8000-000000000001'); end",
    ],
  ])('finds a claim that is %s', async (body) => {
    expect(await undone(database.owner, claims(body), lint('claim_of_its_own'))).toEqual([
      { name: 'claim_of_its_own', object: 'app_hidden.current_organization_id()' },
    ]);
  });

  test('takes one that is its setting', async () => {
    const setting = "begin\n  return nullif(current_setting('graph.organization_id', true), '')::uuid;\nend;";

    expect(await undone(database.owner, claims(setting), lint('claim_of_its_own'))).toEqual([]);
  });
});

describe('setting_changed', () => {
  const functionOf = (body: string) =>
    `create function app_public.become() returns trigger language plpgsql as $body$ begin ${body}; return new; end $body$`;
  const found = [{ name: 'setting_changed', object: 'app_public.become()' }];

  test.each([
    ["perform set_config('graph.organization_id', '', true)"],
    ["perform pg_catalog.set_config ( 'graph.user_id'::text, '', false)"],
    [`perform "set_config"('Graph.user_id', '', true)`],
    ["perform set_config('gra' || 'ph.user_id', '', true)"],
    ["perform set_config(setting_name => 'graph.user_id', new_value => '', is_local => true)"],
    ["perform set_config/* */('graph.user_id', '', true)"],
    ["perform set_config(tg_argv[0], '', true)"],
    ["set local graph.organization_id = 'x'"],
    ['SET "graph".organization_id TO DEFAULT'],
    ["execute 'set graph.organization_id = ' || quote_literal(new.id)"],
    ["execute format('set local %s = %L', tg_argv[0], new.id)"],
    ["execute 'set ' || tg_argv[0] || ' = 1'"],
    ['reset all'],
    ['reset graph.organization_id'],
  ])('finds %s', async (body) => {
    expect(await undone(database.owner, functionOf(body), lint('setting_changed'))).toEqual(found);
  });

  test.each([
    ["perform current_setting('graph.organization_id', true)"],
    ["perform set_config('lock_timeout', '1s', true)"],
    ["set local lock_timeout = '1s'"],
    ["update app_public.units set name = 'graph.organization_id'"],
    ['new.id = null'],
  ])('takes %s', async (body) => {
    expect(await undone(database.owner, functionOf(body), lint('setting_changed'))).toEqual([]);
  });

  test.each([
    [
      'a function that begins with one',
      'app_public.become()',
      `${functionOf('null')}; alter function app_public.become() set graph.organization_id = 'x'`,
      `${functionOf('null')}; alter function app_public.become() set lock_timeout = '1s'`,
    ],
    ...[
      ['a view', 'app_public.becoming', 'create view app_public.becoming with (security_invoker) as select'],
      ['a default', 'app_public.cards.name', 'alter table app_public.cards alter column name set default'],
    ].map(([what, object, statement]) => [
      ...[what, object],
      ...['graph.user_id', 'lock_timeout'].map((setting) => `${statement} set_config('${setting}', '', true)`),
    ]),
    [
      'a check',
      'becoming on app_public.cards',
      ...['graph.user_id', 'lock_timeout'].map(
        (setting) =>
          `alter table app_public.cards add constraint becoming check (set_config('${setting}', '', true) is not null)`,
      ),
    ],
    [
      'the condition of a trigger',
      'becoming on app_public.cards',
      ...['graph.user_id', 'lock_timeout'].map(
        (setting) =>
          `${functionOf('null')}; create trigger becoming before insert on app_public.cards
           for each row when (set_config('${setting}', '', true) is not null) execute function app_public.become()`,
      ),
    ],
    [
      'a role',
      'graph_user',
      `alter role graph_user set graph.organization_id = 'x'`,
      `alter role graph_user set lock_timeout = '1s'`,
    ],
  ] as [string, string, string, string][])('finds it in %s', async (_, object, wrong, right) => {
    expect(await undone(database.owner, wrong, lint('setting_changed'))).toEqual([{ name: 'setting_changed', object }]);
    expect(await undone(database.owner, right, lint('setting_changed'))).toEqual([]);
  });
});

test('setting_changed: finds it for every session of the database', async () => {
  const name = new URL(database.ownerUrl).pathname.slice(1);
  const set = (setting: string) => undone(database.owner, `alter database ${name} set ${setting} = '1s'`, lints);

  expect(await set('graph.user_id')).toEqual([{ name: 'setting_changed', object: `database ${name}` }]);
  expect(await set('lock_timeout')).toEqual([]);
});

test('connect_for_everybody: finds a database to which every role of the cluster may connect', async () => {
  const name = new URL(database.ownerUrl).pathname.slice(1);
  const grant = (to: string) => undone(database.owner, `grant connect on database ${name} to ${to}`, lints);

  expect(await grant('public')).toEqual([{ name: 'connect_for_everybody', object: `database ${name}` }]);
  expect(await grant('graph_auditor')).toEqual([]);
});

describe('authenticator_not_named', () => {
  const findings = `select object, level from audit.findings where name = 'authenticator_not_named' and object ~ '^test_'`;
  const makeRole = 'create role test_authenticator login noinherit';
  const found = [{ object: 'test_authenticator', level: 'error' }];

  test.each([
    ["as the server's has them", 'grant graph_app, graph_user, graph_basic to test_authenticator'],
    ['of one role', 'grant graph_basic to test_authenticator'],
    ['of the worker, which reads all organizations', 'grant graph_worker to test_authenticator'],
    ['of the OAuth server', 'grant graph_oauth to test_authenticator'],
    [
      'of a member of a member',
      'create role test_a; create role test_b; grant graph_app to test_a; grant test_a to test_b; grant test_b to test_authenticator',
    ],
  ])('finds a role with rights %s', async (_, grants) => {
    // That may not connect, as the server of another database may not.
    expect(await undone(database.owner, makeRole, grants, findings)).toEqual([{ ...found[0], level: 'warning' }]);
    const connect = `grant connect on database ${new URL(database.ownerUrl).pathname.slice(1)} to test_authenticator`;
    expect(await undone(database.owner, makeRole, grants, connect, findings)).toEqual(found);
  });

  test('takes the one that db:migrate names, an auditor, and one without rights', async () => {
    const grants = 'grant graph_app to test_authenticator';
    const name = `insert into audit.accepted values ('authenticator_not_named', 'test_authenticator', '', 'For a test.')`;

    expect(await undone(database.owner, makeRole, grants, name, findings)).toEqual([]);
    expect(await undone(database.owner, makeRole, 'grant graph_auditor to test_authenticator', findings)).toEqual([]);
    expect(await undone(database.owner, makeRole, findings)).toEqual([]);
  });
});
