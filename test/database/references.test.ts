import { undone } from '../audit/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

// The finding `reference_sets_organization`: what a foreign key of an organization does when its unit goes.

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
