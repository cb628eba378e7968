import { undone } from '../audit/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

// Tables with which no organization could be moved to another database, and beside each how it could.

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const columns = 'organization_id uuid not null, id uuid not null';
const key = 'constraint doors_pkey primary key (organization_id, id)';

test.each([
  [
    'has no organization in its key',
    /no organization_id in the key/,
    `create table app_public.doors (${columns}, constraint doors_pkey primary key (id))`,
    `create table app_public.doors (${columns}, ${key})`,
  ],
  [
    'has no key',
    /no organization_id in the key/,
    `create table app_public.doors (${columns})`,
    `create table app_public.doors (${columns}); alter table app_public.doors replica identity full`,
  ],
  [
    'is told apart by an index without the organization',
    /no organization_id in the key/,
    `create table app_public.doors (${columns}, ${key}, constraint doors_id_key unique (id));
     alter table app_public.doors replica identity using index doors_id_key`,
    `create table app_public.doors (${columns}, constraint doors_pkey primary key (id));
     create unique index doors_id_key on app_public.doors (organization_id, id);
     alter table app_public.doors replica identity using index doors_id_key`,
  ],
  [
    'is unlogged',
    /is unlogged/,
    `create unlogged table app_public.doors (${columns}, ${key})`,
    `create table app_public.doors (${columns}, ${key})`,
  ],
  [
    'refers to what moves, and does not move',
    /refers to app_public\.units and has no organization_id/,
    `create table app_public.doors (tenant uuid not null, id uuid primary key,
       constraint doors_unit_fkey foreign key (tenant, id) references app_public.units)`,
    'create table app_public.doors (tenant uuid not null, id uuid primary key)',
  ],
])('finds a table that %s', async (_, detail, wrong, right) => {
  expect(await findingsAfter(wrong)).toEqual([
    expect.objectContaining({ level: 'warning', object: 'app_public.doors', detail: expect.stringMatching(detail) }),
  ]);
  expect(await findingsAfter(right)).toEqual([]);
});

test('finds a partition that is told apart otherwise than its table', async () => {
  const table = `create table app_public.doors (${columns}, ${key}) partition by hash (organization_id);
    create table app_public.doors_0 partition of app_public.doors for values with (modulus 1, remainder 0);`;

  expect(await findingsAfter(table)).toEqual([]);
  expect(await findingsAfter(`${table} alter table app_public.doors_0 replica identity nothing`)).toMatchObject([
    { object: 'app_public.doors_0' },
  ]);
});

test('a finding is accepted with a reason, and the table stays one that cannot be moved', async () => {
  const sql = `create unlogged table app_public.doors (${columns}, ${key});
    insert into audit.accepted (kind, object, who, reason) values ('table_not_movable', 'app_public.doors', '', 'For a test.')`;

  expect(await findingsAfter(sql)).toEqual([]);
  expect(await findingsAfter(sql, 'audit.move_lints')).toMatchObject([{ object: 'app_public.doors' }]);
});

const findingsAfter = (sql: string, view = 'audit.findings') =>
  undone(database.owner, sql, `select * from ${view} where name = 'table_not_movable'`);
