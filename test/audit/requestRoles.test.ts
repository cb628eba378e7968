import { readInvariants, readRequestRoles } from '../../src/commands/audit/prove/readOptions.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { undone } from './support.ts';

// `audit.request_roles` is the one list of the roles that the server may become: a role that a migration adds to it is known everywhere.

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const add = (kind: string) => `
  create role test_scope nologin;
  do $$ begin
    execute 'create or replace view audit.request_roles with (security_invoker = true) as '
      || replace(pg_get_viewdef('audit.request_roles'), '(''graph_worker''::text,', '(''test_scope'', ''${kind}''), (''graph_worker'',');
  end $$`;

const login = 'create role test_login login noinherit; grant test_scope to test_login';
const named = (name: string) => `select object, level from audit.findings where name = '${name}' and object ~ 'test_'`;

test('a role without a list entry is nobody', async () => {
  const alone = ['create role test_scope nologin', login];

  expect(await undone(database.owner, ...alone, named('authenticator_not_named'))).toEqual([]);
  expect(await undone(database.owner, ...alone, `select from audit.request_roles where role = 'test_scope'`)).toEqual(
    [],
  );
});

test.each(['token', 'oauth', 'worker'])('a login that may become a role of kind %s is a finding', async (kind) => {
  expect(await undone(database.owner, add(kind), login, named('authenticator_not_named'))).toEqual([
    { object: 'test_login', level: 'warning' },
  ]);
});

test.each([
  ['token', [{ level: 'error', object: 'open on app_public.test_doors' }]],
  ['oauth', [{ level: 'error', object: 'open on app_public.test_doors' }]],
  // It serves every organization: the prover bounds it.
  ['worker', []],
])('an open policy of a role of kind %s is a finding unless it serves every organization', async (kind, expected) => {
  const open = `
    create table app_public.test_doors (organization_id uuid not null, id int, primary key (organization_id, id));
    alter table app_public.test_doors enable row level security, force row level security;
    create policy open on app_public.test_doors for select to test_scope using (true)`;

  expect(await undone(database.owner, add(kind), open, named('policy_always_true'))).toEqual(expected);
});

test('the server may become it without a bypass, and the invariants of all roles hold for it', async () => {
  const client = await database.owner.connect();
  try {
    await client.query('begin');
    await client.query(add('token'));
    await client.query(login);
    const bypasses = await client.query(`select object, known from audit.bypasses where who = 'test_login'`);
    const invariants = await readInvariants(client);

    expect(bypasses.rows).toEqual([{ object: 'test_scope', known: true }]);
    expect(await readRequestRoles(client)).toEqual(expect.arrayContaining(['graph_app', 'graph_worker', 'test_scope']));
    const organization = invariants.find(({ name, relation }) => name === 'organization' && relation === '*');
    expect(organization?.roles.toSorted()).toEqual([
      'graph_app',
      'graph_basic',
      'graph_oauth',
      'graph_user',
      'test_scope',
    ]);
  } finally {
    await client.query('rollback');
    client.release();
  }
});

test('reads that are recorded are recorded of it, too', async () => {
  const policies = `select roles from audit.policies where policy = 'record_reads'`;
  const record = `select audit.record_reads('app_public.users')`;

  expect(await undone(database.owner, add('token'), record, policies)).toEqual([
    { roles: ['graph_app', 'graph_basic', 'graph_oauth', 'graph_user', 'graph_worker', 'test_scope'] },
  ]);
  expect(await undone(database.owner, record, policies)).toEqual([
    { roles: ['graph_app', 'graph_basic', 'graph_oauth', 'graph_user', 'graph_worker'] },
  ]);
});
