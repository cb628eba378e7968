import { withCells } from '../../../src/commands/admin/moveOrganization/cells.ts';
import { chooseHashes, compareRows } from '../../../src/commands/admin/moveOrganization/compare.ts';
import { readMovedTables } from '../../../src/commands/admin/moveOrganization/tables.ts';
import { createCells, type TestCells } from './cells.ts';

let cells: TestCells;
let organizationId: string;
beforeAll(async () => {
  cells = await createCells();
  // The second database has another oid for each value of the enum.
  await cells.there.owner.query("create type app_public.spare as enum ('a')");
  const made = `create type app_public.lock_state as enum ('open', 'shut');
    create table app_public.doors (organization_id uuid, id int, state app_public.lock_state, note text, primary key (organization_id, id))`;
  for (const { owner } of [cells.here, cells.there]) await owner.query(made);
  const { rows } = await cells.here.owner.query('select gen_random_uuid() as id');
  organizationId = rows[0].id;
});
beforeEach(async () => {
  for (const { owner } of [cells.here, cells.there]) {
    await owner.query(
      'truncate app_public.doors, app_public.units, app_hidden.unit_ancestors cascade; delete from app_hidden.organizations',
    );
    await owner.query("insert into app_hidden.organizations (id, name) values ($1, 'Acme')", [organizationId]);
    await owner.query(
      "insert into app_public.doors select $1, number, 'open', 'note ' || number from generate_series(1, 3) as number",
      [organizationId],
    );
    await owner.query(
      "insert into app_public.units (organization_id, id, name, created_at, updated_at) values ($1, md5('unit')::uuid, 'Hall', 'epoch', 'epoch')",
      [organizationId],
    );
  }
});
afterAll(() => cells.drop());

const compare = () =>
  withCells(cells.here.ownerUrl, cells.there.ownerUrl, async (connected) => {
    const tables = await chooseHashes(connected, await readMovedTables(connected.from.client));
    const { rows, differing } = await compareRows(connected, tables, organizationId);
    return { rows: rows.filter(({ rows }) => rows > 0), differing, tables };
  });

test('equal rows are equal, by their values or, where these are the database’s own, by their texts', async () => {
  const { rows, differing, tables } = await compare();

  expect(differing).toEqual([]);
  expect(rows).toEqual(
    expect.arrayContaining([
      { table: 'app_public.doors', rows: 3 },
      { table: 'app_public.units', rows: 1 },
    ]),
  );
  const byText = tables.filter(({ hash }) => hash.includes('::text')).map(({ name }) => name);
  expect(byText).toContain('app_public.doors');
  expect(byText).not.toContain('app_public.users');
});

test.each([
  ['a value', "update app_public.units set name = 'Haul'", 'app_public.units'],
  ['an enum', "update app_public.doors set state = 'shut' where id = 2", 'app_public.doors'],
  ['a null', 'update app_public.doors set note = null where id = 2', 'app_public.doors'],
  ['a row that is missing', 'delete from app_public.doors where id = 3', 'app_public.doors'],
  [
    'a row too many',
    "insert into app_public.doors select organization_id, 4, 'open', 'note' from app_public.doors where id = 1",
    'app_public.doors',
  ],
  [
    'values that two rows have exchanged',
    "update app_public.doors set note = case id when 1 then 'note 2' when 2 then 'note 1' else note end",
    'app_public.doors',
  ],
])('%s that differs is found', async (_what, statement, table) => {
  await cells.there.owner.query(statement);

  expect((await compare()).differing).toEqual([table]);
});
