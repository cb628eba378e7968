import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/**
 * The keys by which an organization's rows are told apart. To move them to another database, each row must say whose it is, in the key by
 * which logical replication knows it, and refer to nothing of another organization.
 */
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const column = async (statement: string): Promise<string[]> => {
  const { rows } = await database.owner.query<[string]>({ text: statement, rowMode: 'array' });
  return rows.map(([value]) => value);
};

/** The tables of an organization. */
const owned = `
  select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
  where c.relkind in ('r', 'p') and not c.relispartition and n.nspname in ('app_public', 'app_hidden', 'oauth')`;

test('every primary key has the organization', async () => {
  const keys = await column(`
    select o.oid::regclass::text from (${owned}) as o
    where not exists (
      select from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
      where i.indrelid = o.oid and i.indisprimary and a.attname = 'organization_id')`);

  expect(keys).toEqual([]);
  expect((await column(`select oid::regclass::text from (${owned}) as o`)).length).toBeGreaterThan(15);
});

test('two unique keys span organizations', async () => {
  const keys = await column(`
    select i.indexrelid::regclass::text from pg_index i
    where i.indrelid in (${owned}) and i.indisunique and not exists (
      select from pg_attribute a where a.attrelid = i.indrelid and a.attnum = any (i.indkey) and a.attname = 'organization_id')
    order by 1`);

  expect(keys).toEqual(['oauth.applications_client_id_key', 'oauth.sessions_sid_key']);
});

test('the organization has the same place on both sides of every foreign key', async () => {
  const place = (key: string, relation: string) =>
    `array_position(${key}, (select attnum from pg_attribute where attrelid = ${relation} and attname = 'organization_id'))`;
  const { rows } = await database.owner.query<{ name: string; from: number | null; to: number | null }>(`
    select k.conname::text as name, ${place('k.conkey', 'k.conrelid')} as "from", ${place('k.confkey', 'k.confrelid')} as "to"
    from pg_constraint k
    where k.contype = 'f' and k.conrelid in (${owned}) and k.confrelid <> 'app_hidden.organizations'::regclass`);

  expect(rows.filter(({ from, to }) => from === null || from !== to)).toEqual([]);
  expect(rows.length).toBeGreaterThan(10);
});

test('it is a required uuid, which is not made from other columns', async () => {
  const columns = await column(`
    select distinct format('%s %s %s', atttypid::regtype, attnotnull, attgenerated = '' and attidentity = '')
    from pg_attribute where attname = 'organization_id' and attrelid in (${owned})`);

  expect(columns).toEqual(['uuid t t']);
});
