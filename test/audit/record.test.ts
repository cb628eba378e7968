import { createTenant, createUser, type Tenant } from '../graphql/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { undone } from './support.ts';

// The rights to write the history, and the tables that it records.

let database: TestDatabase;
let tenant: Tenant;
beforeAll(async () => {
  database = await createTestDatabase();
  tenant = await createTenant({ database });
  await createUser(tenant);
});
afterAll(() => database.drop());

const query = async (statement: string, values: unknown[] = []) => (await database.owner.query(statement, values)).rows;

describe('no role rewrites it', () => {
  const roles = ['graph_app', 'graph_user', 'graph_basic', 'graph_oauth', 'graph_admin', 'graph_auditor'];
  const entry = `insert into audit.changes (organization_id, subject_id, relation, row_id, command, columns, role, login)
    values (gen_random_uuid(), gen_random_uuid(), 'x', gen_random_uuid(), 'insert', '{}', 'x', 'x')`;

  it.each(roles)('%s can neither write, change nor delete an entry', async (role) => {
    for (const statement of [
      entry,
      `update audit.changes set role = 'x'`,
      'update audit.changes set before = null',
      'delete from audit.changes',
      'truncate audit.changes',
    ])
      await expect(undone(database.owner, `set local role ${role}`, statement)).rejects.toMatchObject({
        code: '42501',
      });
  });

  it('graph_helper takes values away, and that is all', async () => {
    const asHelper = (...statements: string[]) => undone(database.owner, 'set local role graph_helper', ...statements);

    await expect(asHelper(`update audit.changes set after = '{"full_name": "Forged"}'`)).rejects.toMatchObject({
      code: '42501',
    });
    await expect(asHelper(`update audit.changes set login = 'somebody else'`)).rejects.toMatchObject({ code: '42501' });
    await expect(asHelper('delete from audit.changes')).rejects.toMatchObject({ code: '42501' });
    expect(
      await asHelper(
        'update audit.changes set before = null, after = null',
        'select count(after)::int from audit.changes',
      ),
    ).toEqual([{ count: 0 }]);
  });

  it('cannot be called but by the triggers', async () => {
    for (const role of roles) {
      const rows = await query(
        `select p.proname from pg_proc p where p.pronamespace = 'audit'::regnamespace and p.prosecdef and has_function_privilege($1, p.oid, 'execute')`,
        [role],
      );
      expect(rows).toEqual([]);
    }
  });
});

describe('audit.record', () => {
  const statements = [
    `create table app_public.lockers (organization_id uuid not null, id uuid not null default app_hidden.uuid_v7(), user_id uuid,
       name text, pin_hash text, primary key (organization_id, id))`,
    `select audit.record('app_public.lockers', subject_id => 'user_id', secrets => '{pin_hash}')`,
  ];

  it('records a new table, by the person it belongs to', async () => {
    const user = await createUser(tenant);
    const rows = await undone(
      database.owner,
      ...statements,
      `insert into app_public.lockers (organization_id, user_id, name, pin_hash) values ('${tenant.organizationId}', '${user.uuid}', 'Hall', 'hashed')`,
      `update app_public.lockers set name = 'Attic', pin_hash = 'other'`,
      'delete from app_public.lockers',
      `select command, columns, before, after from audit.changes where relation = 'app_public.lockers' and subject_id = '${user.uuid}' order by id`,
    );

    const whole = { name: 'Attic', user_id: user.uuid };
    expect(rows).toEqual([
      {
        command: 'insert',
        columns: expect.arrayContaining(['name', 'pin_hash']),
        before: null,
        after: expect.objectContaining({ ...whole, name: 'Hall' }),
      },
      { command: 'update', columns: ['name', 'pin_hash'], before: { name: 'Hall' }, after: { name: 'Attic' } },
      {
        command: 'delete',
        columns: expect.arrayContaining(['name', 'pin_hash']),
        before: expect.objectContaining(whole),
        after: null,
      },
    ]);
    expect(JSON.stringify(rows)).not.toMatch(/hashed|other/);
  });

  it('refuses a column that is not there', async () => {
    await expect(
      undone(database.owner, `select audit.record('app_public.cards', secrets => '{pin}')`),
    ).rejects.toMatchObject({ code: '42703' });
  });

  it('is missed where it is not called', async () => {
    const rows = await undone(
      database.owner,
      statements[0] ?? '',
      `select object from audit.findings where name = 'bypass_history'`,
    );
    expect(rows).toEqual([{ object: 'app_public.lockers' }]);
    const recorded = await undone(
      database.owner,
      ...statements,
      `select object from audit.findings where name = 'bypass_history'`,
    );
    expect(recorded).toEqual([]);
  });
});
