import { createEmptiedDatabase, type EmptiedDatabase } from '../support/emptiedDatabase.ts';
import { ada, backend, grace, readersOfRowAt, timeAt, unitsSeenAt } from './asOf.ts';
import { company, insertCompany } from './support.ts';

// The copies of tables that answer the audit's questions about an earlier time.

let database: EmptiedDatabase;
beforeAll(async () => {
  database = await createEmptiedDatabase();
});
beforeEach(() => insertCompany(database.owner));
afterEach(() => database.empty());
afterAll(() => database.drop());

const ask = async (statement: string, ...values: unknown[]) => (await database.owner.query(statement, values)).rows;
const now = () => timeAt(database.owner);
const unitsAt = (principal: string, at: string) => unitsSeenAt(database.owner, principal, at);
const readersAt = (table: string, key: string, at: string) => readersOfRowAt(database.owner, table, key, at);

describe('what stands in for the tables', () => {
  it('has their rights, policies and types, and is gone afterwards', async () => {
    const rights = `
      select r.name, m.command, m.role, m.granted, m.columns, m.row_security, m.rules
      from audit.matrix m join audit.relations r using (relation)
      where m.granted and r.name ~ '^(app_public|app_hidden|oauth)\\.' and r.name = any ($1) order by 1, 2, 3`;
    const policies = `
      select r.name, p.policy, p.command, p.permissive, p.roles, p.using_expression, p.check_expression
      from audit.policies p join audit.relations r using (relation) where r.name = any ($1) order by 1, 2`;
    const names = (
      await ask(`select name from audit.recorded where rebuildable
        union all select name from audit.relations where kind = 'view' and name ~ '^app_public'`)
    ).map(({ name }) => name);
    const client = await database.owner.connect();
    const read = async () => [(await client.query(rights, [names])).rows, (await client.query(policies, [names])).rows];
    const real = await read();
    await client.query('begin; select audit.rebuild(now(), null)');
    const copied = await read();
    await client.query('rollback');
    client.release();

    expect(copied).toEqual(real);
    expect(real.map((rows) => rows.length > 30)).toEqual([true, true]);
    expect(await ask(`select from pg_namespace where nspname ~ '_now$'`)).toEqual([]);
  });

  it('lets others read and write meanwhile', async () => {
    const auditor = await database.owner.connect();
    try {
      await auditor.query('begin');
      await auditor.query('select audit.rebuild(now(), null)');

      const writer = await database.owner.connect();
      await writer.query(`set lock_timeout = '50ms'`);
      await writer.query(`update app_public.units set name = 'Yard' where id = '${company.depot}'`);
      await writer.query(`delete from app_hidden.unit_access where user_id = '${company.grace}'`);
      expect((await writer.query('select from app_public.units')).rowCount).toBe(4);
      writer.release(true);
    } finally {
      await auditor.query('rollback');
      auditor.release();
    }
    expect(await unitsAt(backend, await now())).toContain('Yard');
  });
});

describe('after a migration', () => {
  let shared: EmptiedDatabase;
  beforeEach(async () => {
    shared = database;
    database = await createEmptiedDatabase();
    await insertCompany(database.owner);
  });
  afterEach(async () => {
    await database.drop();
    database = shared;
  });

  it('audit.visible_at goes by the present policies and rights', async () => {
    const before = await now();
    await ask(
      `alter policy select_graph_user on app_public.units using (organization_id = (select app_hidden.current_organization_id()))`,
    );
    await ask('revoke select on app_public.cards from graph_user');

    expect(await unitsAt(`me:${company.konrad}`, before)).toEqual(['Depot', 'Floor', 'Headquarters', 'Room']);
    const visible = await ask('select distinct relation::text from audit.visible_at($1, $2) order by 1', ada, before);
    expect(visible.map(({ relation }) => relation)).toEqual([
      ...['app_hidden.unit_access', 'app_public.card_assignments', 'app_public.units', 'app_public.users'],
    ]);
  });

  it('a table of it stands in, too: with a type, functions and a view of its own', async () => {
    await ask(`
      create type app_public.door_state as enum ('open', 'closed');
      create table app_public.doors (
        organization_id uuid not null references app_hidden.organizations, id uuid not null default app_hidden.uuid_v7(),
        unit_id uuid not null, state app_public.door_state not null default 'open', label text generated always as ('Door ' || id::text) stored,
        pin_hash text not null default 'secret', primary key (organization_id, id));
      create view app_public.open_doors with (security_invoker = true) as select * from app_public.doors where state = 'open';
      create function app_hidden.my_units() returns uuid[] language sql stable
        begin atomic select array(select u.id from app_public.units u); end;
      grant execute on function app_hidden.my_units() to graph_user;
      alter table app_public.doors enable row level security, force row level security;
      create policy all_graph_admin on app_public.doors to graph_admin using (true) with check (true);
      create policy select_graph_user on app_public.doors for select to graph_user using (
        organization_id = (select app_hidden.current_organization_id()) and unit_id = any ((select app_hidden.my_units())::uuid[])
        and state <> 'closed'::app_public.door_state);
      grant select on app_public.doors to graph_user;
      grant select on app_public.doors to graph_admin;
      grant select on app_public.open_doors to graph_user;
      select audit.record('app_public.doors', secrets => '{pin_hash}');`);
    await ask(`insert into app_public.doors (organization_id, id, unit_id) values
      ('${company.acme}', '${company.badge}', '${company.room}'), ('${company.acme}', '${company.assignment}', '${company.depot}')`);
    const before = await now();
    await ask(`update app_public.doors set state = 'closed'`);
    const closed = await now();
    await ask(`update app_public.units set parent_id = '${company.depot}' where id = '${company.room}'`);
    await ask('delete from app_public.doors');

    const doors = `select key from audit.visible_at($1, $2) where relation = 'app_public.doors'::regclass`;
    expect(await ask(doors, ada, before)).toEqual([{ key: company.badge }]);
    expect(await ask(doors, grace, before)).toEqual([{ key: company.assignment }]);
    expect(await ask(doors, ada, closed)).toEqual([]);
    expect(await readersAt('app_public.doors', company.badge, before)).toEqual([ada]);
  });
});
