import { undone } from '../audit/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

// What lets a request pass for another, or a stranger connect, and beside each how it may be written.

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const lints = 'select name, object from audit.claim_lints order by name, object';
/** One of them, as the others take longer. */
const lint = (name: string) => `select name, object from audit.claim_lints where name = '${name}' order by object`;

test('finds nothing in the schema as it is', async () => {
  expect(await undone(database.owner, lints)).toEqual([]);
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
