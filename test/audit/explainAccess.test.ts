import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { company, insertCompany, undone } from './support.ts';

// The audit's answers about one principal: which policy decides about a row, how many rows it sees, and who may ask.

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await insertCompany(database.owner);
});
afterAll(() => database.drop());

const ask = (...statements: string[]) => undone(database.owner, ...statements);

describe('audit.explain_access', () => {
  const explain = (principal: string, table: string, key: string) =>
    `select command, outcome, policy, part, holds from audit.explain_access('${principal}', '${table}', '${key}')`;

  it('says which part of which policy decided', async () => {
    const rows = await ask(explain('me:grace@acme.test', 'app_public.units', company.room));

    expect(rows.slice(0, 4)).toEqual([
      { command: 'select', outcome: 'finds no such row', policy: null, part: 'select', holds: true },
      expect.objectContaining({
        policy: 'select_graph_user',
        part: expect.stringContaining('organization_id'),
        holds: true,
      }),
      expect.objectContaining({
        policy: 'select_graph_user',
        part: expect.stringContaining('granted_unit_ids'),
        holds: false,
      }),
      { command: 'insert', outcome: 'not granted', policy: null, part: 'insert', holds: false },
    ]);
  });

  it.each([
    ['app:acme-backend', 'allowed', 'allowed', 'allowed', 'allowed'],
    ['app:rival-backend', 'finds no such row', 'refused', 'finds no such row', 'finds no such row'],
    ['basic:acme-backend', 'finds no such row', 'not granted', 'not granted', 'not granted'],
    ['me:ada@acme.test', 'allowed', 'not granted', 'not granted', 'not granted'],
    ['me:mallory@rival.test', 'finds no such row', 'not granted', 'not granted', 'not granted'],
    ['oauth:Acme', 'allowed', 'not granted', 'not granted', 'not granted'],
    ['oauth:Rival', 'finds no such row', 'not granted', 'not granted', 'not granted'],
  ])('tries every command of %s on a person', async (principal, ...outcomes) => {
    const rows = await ask(explain(principal, 'app_public.users', company.ada));

    const commands = rows.filter(({ policy }) => policy === null).map(({ command, outcome }) => [command, outcome]);
    expect(Object.fromEntries(commands)).toEqual({
      select: outcomes[0],
      insert: outcomes[1],
      update: outcomes[2],
      delete: outcomes[3],
    });
  });

  it('agrees with the parts: a row is reached when one policy holds in every part', async () => {
    const tables = {
      'app_public.users': company.ada,
      'app_public.units': company.room,
      'app_public.cards': company.badge,
    };
    const principals = await ask(
      "select principal from audit.principals where role in ('graph_app', 'graph_user', 'graph_basic')",
    );
    for (const [table, key] of Object.entries(tables)) {
      for (const { principal } of principals) {
        const rows = await ask(`${explain(String(principal), table, key)} where command = 'select'`);
        const [grant, ...parts] = rows;
        const everyPart = parts.length > 0 && parts.every(({ holds }) => holds);

        expect({ table, principal, allowed: grant?.outcome === 'allowed' }).toEqual({
          table,
          principal,
          allowed: everyPart,
        });
      }
    }
    expect(principals.length).toBe(7);
  });

  it('shows a policy that was weakened, as the principal meets it', async () => {
    const rows = await ask(
      'alter policy select_graph_user on app_public.users using (organization_id = (select app_hidden.current_organization_id()))',
      explain('me:grace@acme.test', 'app_public.users', company.ada),
    );

    expect(rows.filter(({ command }) => command === 'select')).toEqual([
      expect.objectContaining({ outcome: 'allowed', policy: null }),
      expect.objectContaining({ policy: 'select_graph_user', holds: true }),
    ]);
  });

  it('leaves nothing behind, and the caller who it was', async () => {
    const { rows: before } = await database.owner.query('select count(*), max(id) from audit.changes');

    const rows = await ask(
      explain('app:acme-backend', 'app_public.users', company.ada),
      `select current_setting('role') as role, coalesce(current_setting('graph.organization_id', true), '') as organization,
         (select count(*)::int from app_public.users) as users`,
    );

    expect(rows).toEqual([{ role: 'none', organization: '', users: 4 }]);
    const { rows: after } = await database.owner.query('select count(*), max(id) from audit.changes');
    expect(after).toEqual(before);
  });

  it('says how principals are named', async () => {
    await expect(ask(explain('ada', 'app_public.users', company.ada))).rejects.toMatchObject({
      code: 'P0002',
      hint: expect.stringContaining('me:<user id'),
    });
  });
});

test('audit.visible counts what a principal sees', async () => {
  const visible = async (principal: string) => {
    const rows = await ask(`select relation::text as table, rows::int, "of"::int from audit.visible('${principal}')`);
    return Object.fromEntries(rows.map(({ table, rows, of }) => [table, [rows, of]]));
  };

  // A team's own tables may come on top.
  expect(await visible('me:ada@acme.test')).toMatchObject({
    'app_hidden.unit_access': [1, 2],
    'app_hidden.unit_ancestors': [3, 7],
    'app_public.access_grants': [1, null],
    'app_public.card_assignments': [1, 1],
    'app_public.cards': [1, 1],
    'app_public.units': [3, 4],
    'app_public.users': [1, 4],
  });
  expect(await visible('app:rival-backend')).toMatchObject({ 'app_public.users': [1, 4], 'app_public.units': [0, 4] });
  expect(await visible('basic:acme-backend')).toMatchObject({ 'app_public.users': [0, 4] });
});

test('an auditor sees rights and the history, and no row of anybody', async () => {
  const asAuditor = (statement: string) => ask('set local role graph_auditor', statement);

  for (const view of ['matrix', 'policies', 'functions', 'relations', 'bypasses', 'accepted', 'changes'])
    expect((await asAuditor(`select * from audit.${view}`)).length).toBeGreaterThan(0);
  for (const refused of [
    'select from app_public.users',
    'select from oauth.credentials',
    'select from audit.principals',
    `select from audit.who_can('app_public.users', '${company.ada}')`,
    'insert into audit.accepted values (1, 2, 3, 4)',
  ])
    await expect(asAuditor(refused)).rejects.toMatchObject({ code: '42501' });
});

test('no request reaches the schema audit', async () => {
  const rows = await ask(`
    select role from unnest(array['graph_app', 'graph_user', 'graph_basic', 'graph_oauth', 'graph_authenticator']) as role
    where has_schema_privilege(role, 'audit', 'usage')
      or exists (
        select from pg_class c where c.relnamespace = 'audit'::regnamespace
          and c.relkind in ('r', 'v') and has_any_column_privilege(role, c.oid, 'select, insert, update'))`);

  expect(rows).toEqual([]);
});
