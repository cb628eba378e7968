import { undone } from '../audit/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

// The findings about foreign keys: `reference_sets_organization`, what one does when its unit goes, and `reference_of_two_collations`.

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const doors = (action: string) =>
  `create table app_public.doors (organization_id uuid not null, id uuid not null, unit_id uuid, "part Of" uuid, primary key (organization_id, id),
     constraint doors_unit foreign key (organization_id, unit_id) references app_public.units (organization_id, id) ${action})`;
const findings = `select detail, remedy from audit.findings where name = 'reference_sets_organization'`;

it.each([
  ['on delete set null', 'is deleted', 'on delete set null (unit_id)'],
  ['on delete set default', 'is deleted', 'on delete set default (unit_id)'],
  ['on delete set null (organization_id, unit_id)', 'is deleted', 'on delete set null (unit_id)'],
  ['on update set null', 'gets another key', 'on update no action, or cascade'],
  ['on update set default', 'gets another key', 'on update no action, or cascade'],
])('%s that sets organization_id is a finding', async (action, event, remedy) => {
  const detail = `sets organization_id, too, when what it points to ${event}: that fails, or gives the row to nobody`;

  expect(await undone(database.owner, doors(action), findings)).toEqual([{ detail, remedy }]);
});

it.each([
  '',
  'on delete cascade',
  'on delete set null (unit_id)',
  'on delete set default (unit_id)',
  'on update cascade',
])('a key without more than "%s" is none', async (action) => {
  expect(await undone(database.owner, doors(action), findings)).toEqual([]);
});

it('a unit is deleted when its doors are written as the finding says', async () => {
  const [organization, unit] = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002'];
  const rows = [
    `insert into app_hidden.organizations (id, name) values ('${organization}', 'Doors')`,
    `insert into app_public.units (organization_id, id, name) values ('${organization}', '${unit}', 'HQ')`,
    `insert into app_public.doors values ('${organization}', '${organization}', '${unit}')`,
    `delete from app_public.units where id = '${unit}'`,
    'select organization_id, unit_id from app_public.doors',
  ];

  expect(await undone(database.owner, doors('on delete set null (unit_id)'), ...rows)).toEqual([
    { organization_id: organization, unit_id: null },
  ]);
  await expect(undone(database.owner, doors('on delete set null'), ...rows)).rejects.toMatchObject({ code: '23502' });
});

describe('a key between texts', () => {
  const named = (collation: string) =>
    `alter table app_public.units add unique (organization_id, name);
     create table app_public.doors (organization_id uuid not null, id uuid not null, unit_name text ${collation}, primary key (organization_id, id),
       constraint doors_unit foreign key (organization_id, unit_name) references app_public.units (organization_id, name));
     with acme as (insert into app_hidden.organizations (name) values ('Named') returning id),
       unit as (insert into app_public.units (organization_id, name) select id, 'HQ' from acme returning organization_id, id, name)
     insert into app_public.doors select * from unit`;
  const join = 'select count(*)::int from app_public.doors d join app_public.units u on u.name = d.unit_name';
  const findings = `select detail from audit.findings where name = 'reference_of_two_collations'`;

  it('of two collations is a finding, since PostgreSQL joins by neither', async () => {
    expect(await undone(database.owner, named('collate "POSIX"'), findings)).toEqual([
      { detail: 'compares unit_name of collation "POSIX" with name of "C"' },
    ]);
    await expect(undone(database.owner, named('collate "POSIX"'), join)).rejects.toMatchObject({ code: '42P22' });
  });

  it.each(['', 'collate "C"'])('is none with "%s", by which it joins', async (collation) => {
    expect(await undone(database.owner, named(collation), findings)).toEqual([]);
    expect(await undone(database.owner, named(collation), join)).toEqual([{ count: 1 }]);
  });
});
