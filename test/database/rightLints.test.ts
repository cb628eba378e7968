import { undone } from '../audit/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

// Rights that no acceptance counts with, and rights to write what triggers alone may write: a proof counts these as written anyway.

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const findingsAfter = (...statements: string[]) =>
  undone(database.owner, ...statements, "select * from audit.findings where name = 'forbidden_column_granted'");

test.each([
  ['a column', 'grant update (ancestor_ids) on app_public.units to graph_app'],
  ['a table', 'grant insert on app_public.units to graph_user'],
])('finds the right to write %s that an invariant forbids', async (_, grant) => {
  expect(await findingsAfter(grant)).toEqual([
    expect.objectContaining({ level: 'error', object: 'app_public.units.ancestor_ids' }),
  ]);
});

test('finds nothing of another column, and of one that is accepted', async () => {
  const accept = `insert into audit.accepted (kind, object, who, reason)
    values ('forbidden_column_granted', 'app_public.units.ancestor_ids', '', 'For a test.')`;

  expect(await findingsAfter('grant update (name) on app_public.units to graph_app')).toEqual([]);
  expect(await findingsAfter('grant update (ancestor_ids) on app_public.units to graph_app', accept)).toEqual([]);
});

describe('a right that this version does not grant', () => {
  const rightsAfter = (...statements: string[]) =>
    undone(
      database.owner,
      ...statements,
      "select object, detail, remedy from audit.findings where name = 'right_not_accepted' order by object, detail",
    );

  test.each([
    ['grant update on app_hidden.unit_access to graph_app', 'app_hidden.unit_access', 'graph_app may update all of it'],
    ['grant update on app_public.users to graph_app', 'app_public.users', 'graph_app may update all of it'],
    [
      'grant update (unit_id, id) on app_hidden.unit_access to graph_app',
      'app_hidden.unit_access',
      'graph_app may update (id, unit_id)',
    ],
    [
      'grant select (external_authentication_token_hash) on app_public.users to graph_user',
      'app_public.users',
      'graph_user may select (external_authentication_token_hash)',
    ],
    [
      'grant insert (ancestor_ids) on app_public.units to graph_oauth',
      'app_public.units',
      'graph_oauth may insert (ancestor_ids)',
    ],
    ['grant references (id) on app_public.units to graph_app', 'app_public.units', 'graph_app may references (id)'],
    [
      'grant select on app_public.cards to graph_user with grant option',
      'app_public.cards',
      'graph_user may select with grant option all of it',
    ],
    [
      'grant select on oauth.application_secrets to graph_auditor',
      'oauth.application_secrets',
      'graph_auditor may select all of it',
    ],
    ['grant usage on schema oauth to graph_user', 'schema oauth', 'graph_user may usage all of it'],
  ])('is a finding: %s', async (grant, object, detail) => {
    const found = await rightsAfter(grant);

    expect(found).toMatchObject([{ object, detail: `${detail}, which this version does not grant` }]);
    // The remedy gives back what the revoke takes along.
    const [remedy = ''] = String(found[0]?.remedy).split('; or accept it');
    const rights = `select object, part, who, command from audit.rights where object = '${object}' order by 1, 2, 3, 4`;
    expect(await rightsAfter(grant, remedy)).toEqual([]);
    expect(await undone(database.owner, grant, remedy, rights)).toEqual(await undone(database.owner, rights));
  });

  test('is a finding of the role that has it, whoever is a member of that role', async () => {
    const grants = ['create role test_staff', 'grant update (unit_id) on app_hidden.unit_access to test_staff'];

    expect(await rightsAfter(...grants, 'grant test_staff to graph_app')).toMatchObject([
      { object: 'app_hidden.unit_access', detail: expect.stringMatching(/^test_staff may update \(unit_id\)/) },
    ]);
  });

  test('is accepted for one role, as it is then', async () => {
    const grant = (column: string, role: string) => `grant update (${column}) on app_hidden.unit_access to ${role}`;
    const accept = `insert into audit.accepted (kind, object, who, reason) values ('right', 'app_hidden.unit_access', 'graph_app', 'For a test.')`;

    expect(await rightsAfter(grant('unit_id', 'graph_app'), accept)).toEqual([]);
    expect(await rightsAfter(grant('unit_id', 'graph_app'), accept, grant('source', 'graph_app'))).toHaveLength(1);
    expect(await rightsAfter(grant('unit_id', 'graph_app'), accept, grant('unit_id', 'graph_user'))).toHaveLength(1);
  });

  test('is none of a column or table of your own, or when it is taken away or granted twice', async () => {
    expect(
      await rightsAfter(
        'alter table app_public.users add column badge text',
        'grant select (badge), update (badge) on app_public.users to graph_app',
        'create table app_public.doors (id uuid primary key)',
        'grant all on app_public.doors to graph_app',
        'revoke delete on app_public.users from graph_app',
        'grant update (valid_until) on app_hidden.unit_access to graph_app',
        'grant select (name) on app_public.cards to graph_user',
      ),
    ).toEqual([]);
  });

  test('stands beside the rules that audit.matrix states', async () => {
    const rules = `select rules from audit.matrix where relation = 'app_hidden.unit_access'::regclass and role = 'graph_app' and command = 'update'`;
    const rule = 'An application changes the time of grants of its organization, and nothing else of them.';

    expect(await undone(database.owner, rules)).toEqual([{ rules: [rule] }]);
    expect(
      await undone(database.owner, 'grant update (unit_id) on app_hidden.unit_access to graph_app', rules),
    ).toEqual([{ rules: [`${rule} It was written without this right: update (unit_id).`] }]);
    expect(await undone(database.owner, 'grant update on app_hidden.unit_access to public', rules)).toEqual([
      { rules: [`${rule} It was written without this right: update to public.`] },
    ]);
  });

  test('to read a secret is accepted for those who could read it then', async () => {
    const secret = [
      'create table app_public.safes (id uuid primary key, pin_hash text)',
      'grant select on app_public.safes to graph_app',
      `insert into audit.accepted (kind, object, who, reason) values ('secret_readable', 'app_public.safes.pin_hash', '', 'For a test.')`,
    ];
    const found = (...statements: string[]) =>
      undone(database.owner, ...secret, ...statements, "select detail from audit.lints where name = 'secret_readable'");

    expect(await found()).toEqual([]);
    expect(await found('grant select (pin_hash) on app_public.safes to graph_user')).toEqual([
      { detail: 'sounds like a secret, and graph_user may read it' },
    ]);
  });
});
