import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { findingsHere, undone } from './support.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Without the roles that other test files make at the same time, whose names end in random digits. */
const unknown = `
  select kind, object, who from audit.bypasses where not known and who !~ '_[0-9a-f]{8,32}$' order by 1, 2, 3`;

test('every way around the policies of this schema is known, and has its reason', async () => {
  expect(await undone(database.owner, unknown)).toEqual([]);
  expect(await undone(database.owner, 'select from audit.bypasses where known and reason is null')).toEqual([]);
  const kinds = await undone(database.owner, 'select distinct kind from audit.bypasses order by 1');
  expect(kinds.map(({ kind }) => kind)).toEqual(['definer', 'history', 'owner', 'power', 'set role']);
});

test('what was accepted is there: nothing is accepted that has gone', async () => {
  const stale = `
    select a.kind, a.object from audit.accepted a
    where a.kind in (select kind from audit.bypasses)
      and not exists (select from audit.bypasses b where (b.kind, b.object, b.who) = (a.kind, a.object, a.who))`;

  expect(await undone(database.owner, stale)).toEqual([]);
});

const columns = 'organization_id uuid not null, id uuid not null, primary key (organization_id, id)';
const recorded = (table: string) => `select audit.record('${table}')`;
const guarded = (table: string) => `alter table ${table} enable row level security, force row level security`;

test.each([
  ['table', 'app_public.open', 'postgres', [`create table app_public.open (${columns})`, recorded('app_public.open')]],
  ['table', 'app_public.users', 'postgres', ['alter table app_public.users no force row level security']],
  [
    'partition',
    'app_public.part',
    'postgres',
    [
      `create table app_public.whole (${columns}) partition by hash (organization_id)`,
      guarded('app_public.whole'),
      'create table app_public.part partition of app_public.whole for values with (modulus 1, remainder 0)',
      'insert into audit.accepted select kind, object, who, $$tested$$ from audit.bypasses where kind = $$history$$ and not known',
    ],
  ],
  [
    'owner',
    'app_public.theirs',
    'graph_user',
    [
      `create table app_public.theirs (${columns})`,
      guarded('app_public.theirs'),
      recorded('app_public.theirs'),
      'alter table app_public.theirs owner to graph_user',
    ],
  ],
  ['power', 'bypassrls', 'test_backup', ['create role test_backup bypassrls']],
  ['power', 'replication', 'test_replica', ['create role test_replica replication']],
  [
    'power',
    'pg_read_server_files',
    'test_reader',
    ['create role test_reader', 'grant pg_read_server_files to test_reader'],
  ],
  ['set role', 'graph_admin', 'test_alice', ['create role test_alice login', 'grant graph_admin to test_alice']],
  [
    'set role',
    'graph_app',
    'test_bob',
    // A login that has the rights of an application at once, without becoming it.
    ['create role test_bob login', 'grant graph_app to test_bob'],
  ],
  [
    'definer',
    'app_public.peek()',
    'graph_user',
    [
      'create function app_public.peek() returns bigint language sql security definer as $$ select count(*) from app_public.users $$',
      'grant execute on function app_public.peek() to graph_user',
    ],
  ],
  [
    'definer',
    'oauth.verify_access_token(bytea)',
    'graph_oauth, public',
    ['grant execute on function oauth.verify_access_token(bytea) to public'],
  ],
  [
    'view',
    'app_public.everybody',
    'graph_basic',
    [
      'create view app_public.everybody as select * from app_public.users',
      'grant select on app_public.everybody to graph_basic',
    ],
  ],
  [
    'view',
    'app_public.access_grants',
    'graph_app, graph_basic, graph_user',
    ['alter view app_public.access_grants set (security_invoker = false)'],
  ],
  [
    'materialized view',
    'app_public.counted',
    'postgres',
    ['create materialized view app_public.counted as select count(*) from app_public.users'],
  ],
  [
    'rule',
    'shadow on app_public.cards',
    'postgres',
    ['create rule shadow as on update to app_public.cards do also delete from app_public.users'],
  ],
  ['privilege', 'app_public.users', 'graph_app', ['grant truncate on app_public.users to graph_app']],
  ['privilege', 'app_public.units', 'public', ['grant references on app_public.units to public']],
  ['publication', 'app_public.users', 'test_feed', ['create publication test_feed for table app_public.users']],
  [
    'leakproof',
    'app_public.watch(text)',
    'postgres',
    ['create function app_public.watch(text) returns boolean language sql leakproof as $$ select true $$'],
  ],
  [
    'parameter',
    'session_replication_role',
    'graph_app',
    ['grant set on parameter session_replication_role to graph_app'],
  ],
  ['secret', 'app_public.cards.pin_hash', 'graph_auditor', ['alter table app_public.cards add pin_hash text']],
  ['history', 'app_public.cards', 'everybody', ['alter table app_public.cards disable trigger audit_update']],
] as [string, string, string, string[]][])('finds %s: %s, %s', async (kind, object, who, statements) => {
  const found = await undone(database.owner, ...statements, unknown);

  expect(found).toEqual([{ kind, object, who }]);

  const accept = (reason: string) =>
    `insert into audit.accepted values ('${kind}', '${object}', '${who}', '${reason}')`;
  const accepted = await undone(
    database.owner,
    ...statements,
    // As a migration does that runs at each save.
    accept('This test will want it.'),
    accept('This test wants it.'),
    `select known, reason from audit.bypasses where (kind, object, who) = ('${kind}', '${object}', '${who}')`,
  );
  expect(accepted).toEqual([{ known: true, reason: 'This test wants it.' }]);
});

test.each([
  ['table', 'app_public.users', 'alter table app_public.users no force row level security', 'users'],
  ['materialized view', 'app_public.counted', 'create materialized view app_public.counted as select 1', 'counted'],
  [
    'rule',
    'shadow on app_public.cards',
    'create rule shadow as on update to app_public.cards do also delete from app_public.users',
    'cards',
  ],
])('accepts %s, whatever its owner is called', async (kind, object, statement, table) => {
  const isKnown = (accepting: string) =>
    undone(
      database.owner,
      statement,
      'create role test_owner',
      accepting,
      `alter table app_public.${table} owner to test_owner`,
      `select who, known from audit.bypasses where kind = '${kind}' and object = '${object}'`,
    );
  const accept = (name: string) =>
    `insert into audit.accepted values ('${kind}', '${name}', 'postgres', 'For a test.')`;

  expect(await isKnown(accept(object))).toEqual([{ who: 'test_owner', known: true }]);
  expect(await isKnown(accept('another'))).toEqual([{ who: 'test_owner', known: false }]);
});

test('accepts a role for itself alone', async () => {
  const [open] = await undone(
    database.owner,
    'grant truncate on app_public.users to graph_app, graph_user',
    `insert into audit.accepted values ('privilege', 'app_public.users', 'graph_app', 'For a test.')`,
    unknown,
  );

  expect(open).toEqual({ kind: 'privilege', object: 'app_public.users', who: 'graph_user' });
});

test.each([
  ['grant graph_helper to graph_app', 'graph_helper', 'graph_app'],
  ['grant graph_oauth to graph_user', 'graph_oauth', 'graph_user'],
  ['grant pg_write_all_data to graph_app', 'pg_write_all_data', 'graph_app'],
])('finds what a request could become as one cause with its remedy: %s', async (grant, object, who) => {
  const found = await undone(database.owner, grant, `${findingsHere.replace('detail', 'remedy')} order by 1`);

  const cause = { name: 'bypass_set_role', object, remedy: expect.stringMatching(`^revoke ${object} from ${who};`) };
  expect(found).toEqual([cause]);
  expect(await undone(database.owner, grant, String(found[0]?.remedy).split(';')[0] ?? '', unknown)).toEqual([]);
});

test('finds what a request can do as another role when that was accepted', async () => {
  const accepted = `insert into audit.accepted values ('set role', 'graph_helper', 'graph_app', 'For a test.')`;

  const found = await undone(database.owner, 'grant graph_helper to graph_app', accepted, findingsHere);

  expect(found.map(({ name }) => name)).toContain('policy_without_organization');
});

test('an auditor is no finding', async () => {
  const found = await undone(
    database.owner,
    'create role test_auditor login',
    'grant graph_auditor to test_auditor',
    unknown,
  );

  expect(found).toEqual([]);
});

test('says so whatever the search path is', async () => {
  expect(await undone(database.owner, 'set local search_path = app_public, oauth, audit', unknown)).toEqual([]);
});

describe('audit.matrix', () => {
  const matrix = (where: string) =>
    undone(
      database.owner,
      `select role, command, granted, columns, row_security, policies, rules from audit.matrix where ${where}`,
    );

  it('has every table, command and role', async () => {
    const [counted] = await undone(
      database.owner,
      `select count(*)::int as rows,
         ((select count(*) from audit.relations) * (select count(*) from audit.roles) * 4)::int as expected,
         count(distinct relation) filter (where relation::text like 'oauth.%')::int as oauth
       from audit.matrix`,
    );

    expect(counted?.rows).toBe(counted?.expected);
    expect(counted?.oauth).toBe(11);
  });

  it('agrees with what a role may do', async () => {
    const wrong = await matrix(`
      granted <> case command
        when 'delete' then has_table_privilege(role, relation, command) else has_any_column_privilege(role, relation, command) end`);

    expect(wrong).toEqual([]);
  });

  it('names the columns with personal data that a role may read or change', async () => {
    const personal = (relation: string, role: string) => `
      select command, personal from audit.matrix
      where relation = '${relation}'::regclass and role = '${role}' and granted order by command`;
    const ofUsers = (role: string) => undone(database.owner, personal('app_public.users', role));
    const written = ['external_identifier', 'full_name', 'email', 'locale', 'time_zone'];
    const all = [...written.slice(0, 3), 'email_lowercase', 'locale', 'time_zone'];
    const added = [
      'create table app_public.pets (id int, name text, weight int)',
      `comment on column app_public.pets.name is e'@personalData\\nAs its person calls it.'`,
      `comment on column app_public.pets.weight is 'No @personalData.'`,
      'grant select, update (weight) on app_public.pets to graph_app',
    ];

    expect(await ofUsers('graph_app')).toEqual([
      { command: 'delete', personal: all },
      { command: 'insert', personal: written },
      { command: 'select', personal: all },
      { command: 'update', personal: written },
    ]);
    expect(await ofUsers('graph_oauth')).toEqual([
      { command: 'select', personal: ['full_name', 'email', 'email_lowercase'] },
    ]);
    expect(await undone(database.owner, ...added, personal('app_public.pets', 'graph_app'))).toEqual([
      { command: 'select', personal: ['name'] },
      { command: 'update', personal: [] },
    ]);
  });

  it('says the columns and the rule in plain English', async () => {
    expect(
      await matrix(`relation = 'oauth.applications'::regclass and role = 'graph_app' and command = 'select'`),
    ).toEqual([
      {
        role: 'graph_app',
        command: 'select',
        granted: true,
        columns: ['organization_id', 'id', 'name'],
        row_security: 'forced',
        policies: ['select_graph_app'],
        rules: ['An application sees itself.'],
      },
    ]);
    expect(await matrix(`relation = 'oauth.credentials'::regclass and role = 'graph_user' and granted`)).toEqual([]);
  });

  it('counts a policy for everybody for everybody', async () => {
    const rows = await undone(
      database.owner,
      'create policy select_public on app_public.cards for select using (true)',
      `select distinct role from audit.matrix where relation = 'app_public.cards'::regclass and 'select_public' = any (policies)
         and role in ('graph_app', 'graph_user', 'public') order by 1`,
    );

    expect(rows.map(({ role }) => role)).toEqual(['graph_app', 'graph_user', 'public']);
  });
});
