import { readFile } from 'node:fs/promises';
import { company, insertCompany } from '../audit/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/**
 * What docs/sharding.md says about Citus relies on the schema: https://docs.citusdata.com/en/stable/develop/reference_ddl.html.
 * Its statements that are PostgreSQL's own run here; those that only Citus has are read.
 */
describe('sharding by organization, as described', () => {
  let guide: string;
  let database: TestDatabase;
  let reference: string[];
  let distributed: string[];
  let seenBefore: unknown;

  beforeAll(async () => {
    guide = await readFile(new URL('../../docs/sharding.md', import.meta.url), 'utf8');
    reference = names(/create_reference_table\('([\w.]+)'\)/g);
    distributed = names(
      /create_distributed_table\('([\w.]+)', 'organization_id', colocate_with => '(?:none|app_public.users)'/g,
    );
    database = await createTestDatabase();
    await insertCompany(database.owner);
    seenBefore = await seen();
    await database.owner.query(block('triggers'));
    await database.owner.query(block('policies'));
  });

  afterAll(() => database.drop());

  it('names every table once, and says where it goes', async () => {
    const local = names(/(?<=need no statement: [^\n]*)`([a-z_]+\.[a-z_]+)`/g);
    const tables = await column(
      `select relation::text from audit.relations where kind = 'table' and name !~ '^public\\.' order by name`,
    );

    expect([...reference, ...distributed, ...local].sort()).toEqual(tables.sort());
    expect(guide).toMatch(/need no statement: .* those of `graphile_migrate`/);
  });

  it('finds the organization in every unique key of a distributed table, but for the one that it names', async () => {
    const keys = await column(
      `select i.indexrelid::regclass::text
       from pg_index i
       where i.indrelid = any ($1::regclass[]) and i.indisunique and not exists (
         select from pg_attribute a where a.attrelid = i.indrelid and a.attnum = any (i.indkey) and a.attname = 'organization_id')`,
      distributed,
    );

    expect(keys).toEqual(['oauth.sessions_sid_key']);
    expect(guide).toContain('`sessions_sid_key` holds within a shard');
    expect(guide).toContain(
      "set citus.allow_unsafe_constraints = on;\nselect create_distributed_table('oauth.sessions'",
    );
  });

  it('finds the organization at the same place on both sides of every foreign key between distributed tables', async () => {
    const { rows } = await database.owner.query<ForeignKey>(foreignKeys);

    const wrong = rows.filter(
      ({ from, to, place, placeThere }) =>
        !reference.includes(to) && !(distributed.includes(from) && place !== null && place === placeThere),
    );
    expect(wrong).toEqual([]);
    expect(rows.filter(({ from, to }) => reference.includes(from) && !reference.includes(to))).toEqual([]);
    // Citus refuses what would change the column by which a table is distributed.
    expect(rows.filter(({ onDelete, onUpdate }) => `${onDelete}${onUpdate}`.replaceAll(/[acr]/g, '') !== '')).toEqual(
      [],
    );
    expect(
      rows.filter(({ from, to }) => distributed.includes(from) && distributed.includes(to)).length,
    ).toBeGreaterThan(10);
  });

  it('distributes parents before their children', async () => {
    const { rows } = await database.owner.query<ForeignKey>(foreignKeys);
    const order = [...reference, ...distributed];

    expect(rows.filter(({ from, to }) => order.indexOf(to) > order.indexOf(from))).toEqual([]);
  });

  it('distributes by a column that is a required value and is not made from others', async () => {
    const columns = await column(
      `select distinct format('%s %s %s', atttypid::regtype, attnotnull, attgenerated = '' and attidentity = '')
       from pg_attribute where attname = 'organization_id' and attrelid = any ($1::regclass[])`,
      distributed,
    );

    expect(columns).toEqual(['uuid t t']);
  });

  it('leaves no trigger on a table that is everywhere', async () => {
    const triggers = `select tgname::text from pg_trigger where not tgisinternal and tgrelid = any ($1::regclass[])`;

    expect(await column(triggers, reference)).toEqual([]);
    expect((await column(triggers, distributed)).length).toBeGreaterThan(20);
  });

  it('leaves no subquery in a policy of a table that Citus gets', async () => {
    const subqueries = `
      select format('%s on %s', polname, polrelid::regclass) from pg_policy
      where polrelid = any ($1::regclass[]) and concat(polqual, polwithcheck) like '%SUBLINK%'`;

    expect(await column(subqueries, [...reference, ...distributed])).toEqual([]);
  });

  it('brings every function that a policy calls to the workers', async () => {
    const called = await column(
      `select distinct d.refobjid::regprocedure::text
       from pg_policy p join pg_depend d on d.classid = 'pg_policy'::regclass and d.objid = p.oid
       where d.refclassid = 'pg_proc'::regclass and p.polrelid = any ($1::regclass[])`,
      [...reference, ...distributed],
    );
    const brought = names(/'(\w+\.\w+\([\w, ]*\))'/g).map((name) => name.replace(', ', ','));

    expect(called.filter((name) => !brought.includes(name))).toEqual([]);
    expect(called.length).toBeGreaterThan(4);
  });

  it('lets everybody see the same rows as before', async () => {
    expect(await seen()).toEqual(seenBefore);
    expect(seenBefore).toContainEqual(expect.objectContaining({ relation: 'app_public.cards', rows: '1', of: '1' }));
  });

  it('deletes grants without tokens, and no others, as before', async () => {
    await database.owner.query(`
      insert into oauth.grants (organization_id, id, application_id, grant_type, scopes, client_authentication)
      select '${company.acme}', gen_random_uuid(), '${company.backend}', 'client_credentials', scopes, 'secret'
      from (values ('{app}'::text[]), ('{basic}')) as given (scopes);
      insert into oauth.access_tokens (organization_id, token_hash, grant_id, scopes, created_at, expires_at)
      select organization_id, sha256(concat(scopes, kind)::bytea), id, scopes, now() - interval '2 hours', now() + (kind || ' hour')::interval
      from oauth.grants, (values ('-1'), ('1')) as given (kind)
      where kind = '-1' or scopes = '{app}'`);

    await database.owner.query('select * from oauth.purge_tokens(100)');

    expect(await column("select array_to_string(scopes, ' ') from oauth.grants")).toEqual(['app']);
  });

  const seen = async () => {
    const principals = [
      'app:acme-backend',
      'basic:acme-backend',
      'me:ada@acme.test',
      'me:grace@acme.test',
      'oauth:Acme',
    ];
    const { rows } = await database.owner.query(
      'select principal, visible.* from unnest($1::text[]) as principal, audit.visible(principal) as visible order by principal, relation::text',
      [principals],
    );
    return rows;
  };

  const column = async (statement: string, parameter?: readonly string[]): Promise<string[]> => {
    const values = parameter ? [parameter] : [];
    const { rows } = await database.owner.query<[string]>({ text: statement, rowMode: 'array', values });
    return rows.map(([value]) => value);
  };

  const names = (pattern: RegExp) => [...guide.matchAll(pattern)].map(([, name = '']) => name);

  const block = (name: string) =>
    guide.match(new RegExp(`^\`\`\`sql\n-- ${name}\n([\\s\\S]*?)^\`\`\`$`, 'm'))?.[1] ?? 'missing';
});

test('restoring replaces every schema', async () => {
  const guide = await readFile(new URL('../../docs/upgrading.md', import.meta.url), 'utf8');
  const database = await createTestDatabase();

  const { rows } = await database.owner.query<{ schemas: string[] }>(
    `select array_agg(nspname::text order by nspname) as schemas from pg_namespace where nspname !~ '^(pg_|information_schema$|public$)'`,
  );
  await database.drop();

  const named = [...guide.matchAll(/'(?:drop|revoke create on) schema ([\w, ]+) (?:cascade|from)/g)].map(
    ([, list = '']) => list.split(', ').sort(),
  );
  expect(named).toEqual([rows[0]?.schemas, rows[0]?.schemas]);
});

type ForeignKey = {
  name: string;
  from: string;
  to: string;
  place: number | null;
  placeThere: number | null;
  onDelete: string;
  onUpdate: string;
};

/** `place` is where the organization stands in the key; that of an organization is its own id. */
const foreignKeys = `
  select k.conname as name, k.conrelid::regclass::text as "from", k.confrelid::regclass::text as "to",
    array_position(k.conkey, (select attnum from pg_attribute where attrelid = k.conrelid and attname = 'organization_id')) as place,
    array_position(k.confkey, (select attnum from pg_attribute where attrelid = k.confrelid and attname = 'organization_id')) as "placeThere",
    k.confdeltype as "onDelete", k.confupdtype as "onUpdate"
  from pg_constraint k
  where k.contype = 'f' and k.conrelid in (select relation from audit.relations)`;
