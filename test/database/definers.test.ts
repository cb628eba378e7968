import { Client } from 'pg';
import { insertExamples } from '../../src/commands/audit/insertExamples.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

// Every `security definer` function may do what its body does. PostgreSQL asks for the right to call a function when it makes a plan, and a
// plan that the caller has made serves the owner until it is made anew: a missing right shows then, and not before.

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  const client = await database.owner.connect();
  await insertExamples(client);
  client.release();
});
afterAll(() => database.drop());

const isOurs = `nspname !~ '^(pg_|information_schema$|graphile_)'`;

/** Owners that are no superuser, for whom rights matter. */
const definers = `
  select p.oid, p.oid::regprocedure::text as name, p.proowner::regrole::text as owner, p.prorettype = 'trigger'::regtype as "isTrigger",
    coalesce(pg_get_function_sqlbody(p.oid), p.prosrc) as text,
    array(select format_type(type, null) from unnest(p.proargtypes) as type) as arguments
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace join pg_roles r on r.oid = p.proowner
  where p.prosecdef and not r.rolsuper and ${isOurs}
  order by 2`;
type Definer = { name: string; owner: string; isTrigger: boolean; text: string; arguments: string[] };

const readDefiners = async () => (await database.owner.query<Definer>(definers)).rows;

/** What the names in a text stand for, whether the role may use it, and the texts that run along with it. */
const needed = `
  with named as materialized (select distinct command, object from audit.rights_in($1) where part = '')
  select 'execute ' || object as right,
    -- Of one name, one that may be called.
    bool_or(has_function_privilege($2, p.oid, 'execute')) as "isGranted",
    coalesce(array_agg(coalesce(pg_get_function_sqlbody(p.oid), p.prosrc)) filter (where not p.prosecdef), '{}') as texts
  from named join pg_proc p on p.oid in (
    select f.oid from pg_proc f join pg_namespace n on n.oid = f.pronamespace where format('%I.%I', n.nspname, f.proname) = object)
  where command = 'execute'
  group by object
  union all
  select 'use ' || object, bool_or(has_table_privilege($2, object, c) or c <> 'delete' and has_any_column_privilege($2, object, c)), array(
      select concat_ws(' ', pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)) from pg_policy
      where polrelid = object::regclass and exists (select from unnest(polroles) as role where role = 0 or pg_has_role($2, nullif(role, 0), 'usage'))
      union all
      select pg_get_viewdef(object::regclass) from pg_class where oid = object::regclass and relkind = 'v'
      union all
      select text from (
        select pg_get_constraintdef(oid) as text from pg_constraint k
        where k.contype = 'c' and (k.conrelid = object::regclass or k.contypid in (select atttypid from pg_attribute where attrelid = object::regclass))
        union all
        select pg_get_expr(adbin, adrelid) from pg_attrdef join pg_attribute a on a.attrelid = adrelid and a.attnum = adnum
        where adrelid = object::regclass and (a.attgenerated <> '' or exists (select from named w where w.object = named.object and w.command = 'insert'))
        union all
        select pg_get_indexdef(indexrelid) from pg_index where indrelid = object::regclass
        union all
        -- Of an insert, or of an update of columns that the role may change.
        select f.prosrc from pg_trigger t join pg_proc f on f.oid = t.tgfoid
        where t.tgrelid = object::regclass and not f.prosecdef and not t.tgisinternal
          and (t.tgtype & 4 <> 0 and exists (select from named w where w.object = named.object and w.command = 'insert')
            or t.tgtype & 16 <> 0 and (t.tgattr = '' or exists (
              select from unnest(t.tgattr) as number where has_column_privilege($2, object, number, 'update'))))
      ) as written
      where exists (select from named w where w.object = named.object and w.command in ('insert', 'update')))
  from named cross join unnest('{select,insert,update,delete}'::text[]) as c
  where command <> 'execute' and to_regclass(object) is not null
  group by object`;

type Needed = { right: string; isGranted: boolean; texts: string[] };

/** Asks once for each text and owner, since most bodies lead to the same tables and helpers. */
function createNeeded(): (text: string, owner: string) => Promise<Needed[]> {
  const known = new Map<string, Promise<Needed[]>>();
  return (text, owner) => {
    const key = JSON.stringify([text, owner]);
    const found = known.get(key) ?? database.owner.query<Needed>(needed, [text, owner]).then(({ rows }) => rows);
    known.set(key, found);
    return found;
  };
}

/** The rights that a body lacks, with what it calls and what runs on the rows that it writes. */
async function missingIn({ name, owner, text }: Definer, neededBy: ReturnType<typeof createNeeded>): Promise<string[]> {
  const missing = new Set<string>();
  const seen = new Set<string>();
  const texts = [text];
  for (let next = texts.pop(); next !== undefined; next = texts.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    for (const { right, isGranted, texts: more } of await neededBy(next, owner)) {
      if (!isGranted) missing.add(`${name} runs as ${owner}, which may not ${right}`);
      texts.push(...more);
    }
  }
  return [...missing];
}

async function findMissing(): Promise<string[]> {
  const neededBy = createNeeded();
  return (await Promise.all((await readDefiners()).map((definer) => missingIn(definer, neededBy)))).flat();
}

/** The first statement of a session, by this role. @returns what it may not do */
async function refusedFirst(role: string, statement: string): Promise<string | null> {
  const client = new Client({ connectionString: database.ownerUrl });
  await client.connect();
  try {
    await client.query(`set plan_cache_mode = force_custom_plan; begin; set local role ${role}`);
    await client.query(statement);
    return null;
  } catch (error) {
    // Other errors are about the arguments, which mean nothing, and policies may refuse a row.
    const { code, message } = error as { code?: string; message: string };
    return code === '42501' && message.startsWith('permission denied') ? message : null;
  } finally {
    await client.end();
  }
}

const examples: Record<string, string> = {
  ...{
    text: `'x'`,
    bytea: `'\\x00'`,
    integer: '1',
    bigint: '1',
    uuid: 'gen_random_uuid()',
    xid8: `'1'`,
    'double precision': '1',
  },
  ...{
    'text[]': `array['x']`,
    'bytea[]': `array['\\x00'::bytea]`,
    'uuid[]': 'array[gen_random_uuid()]',
    boolean: 'true',
  },
  ...{
    'xid8[]': `array['1'::xid8]`,
    'bigint[]': 'array[1::bigint]',
    date: 'current_date',
    'timestamp with time zone': 'now()',
  },
};

/** Each is called as its owner would call it. */
async function findRefusedCalls(): Promise<string[]> {
  const refused: string[] = [];
  for (const { name, owner, isTrigger, arguments: types } of await readDefiners()) {
    if (isTrigger) continue;
    const values = types.map((type) => `${examples[type] ?? 'null'}::${type}`);
    const message = await refusedFirst(owner, `select * from ${name.replace(/\(.*$/s, '')}(${values})`);
    if (message !== null) refused.push(`${name} as ${owner}: ${message}`);
  }
  return refused;
}

/** Each table is written by the owners of definers, in all columns that they may write, with the checks and triggers of its rows. */
async function findRefusedUpdates(): Promise<string[]> {
  const owners = [...new Set((await readDefiners()).map(({ owner }) => owner))];
  const { rows } = await database.owner.query<{ owner: string; relation: string; columns: string }>(
    `select owner, c.oid::regclass::text as relation, string_agg(format('%1$I = %1$I', a.attname), ', ' order by a.attnum) as columns
     from unnest($1::text[]) as owner, pg_class c join pg_namespace n on n.oid = c.relnamespace, pg_attribute a
     where ${isOurs} and c.relkind in ('r', 'p') and a.attrelid = c.oid and a.attnum > 0 and a.attgenerated = '' and a.attidentity = ''
       and has_column_privilege(owner, c.oid, a.attnum, 'update') and has_column_privilege(owner, c.oid, a.attnum, 'select')
     group by 1, 2 order by 1, 2`,
    [owners],
  );
  const refused: string[] = [];
  for (const { owner, relation, columns } of rows) {
    const message = await refusedFirst(owner, `update ${relation} set ${columns}`);
    if (message !== null) refused.push(`${relation} as ${owner}: ${message}`);
  }
  return refused;
}

test('have every right that their bodies need', async () => {
  expect((await readDefiners()).length).toBeGreaterThan(10);
  expect(await findMissing()).toEqual([]);
});

test('run as their owners in a session that has no plan yet', async () => {
  expect(await findRefusedCalls()).toEqual([]);
});

test('write rows as their owners in a session that has no plan yet', async () => {
  const { rows } = await database.owner.query('select count(*)::int as units from app_public.units');
  expect(rows).toEqual([{ units: 8 }]);
  expect(await findRefusedUpdates()).toEqual([]);
});

describe('a right that is missing is found', () => {
  afterEach(() => database.owner.query('drop schema if exists team cascade'));

  test('of a function that a check of a written table calls', async () => {
    await database.owner.query('revoke execute on function app_hidden.white_space() from graph_helper');

    expect(await findMissing()).toContain(
      'app_hidden.units_move_subtrees() runs as graph_helper, which may not execute app_hidden.white_space',
    );
    expect(await findRefusedUpdates()).toEqual([
      'app_public.units as graph_helper: permission denied for function white_space',
    ]);

    await database.owner.query('grant execute on function app_hidden.white_space() to graph_helper');
    expect(await findRefusedUpdates()).toEqual([]);
  });

  test("in a team's function, its helper and its table", async () => {
    await database.owner.query(`
      create schema team;
      grant usage on schema team to graph_helper;
      create table team.doors (id int);
      create function team.most() returns int language sql immutable as 'select 1';
      create function team.count(most int) returns bigint language sql stable as 'select count(*) from team.doors where id < most + team.most()';
      create function team.peek(n integer) returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp
        as 'begin return team.count(n); end';
      alter function team.peek(integer) owner to graph_helper`);
    const peek = 'team.peek(integer) runs as graph_helper, which may not';

    expect((await findMissing()).sort()).toEqual([
      `${peek} execute team.count`,
      `${peek} execute team.most`,
      `${peek} use team.doors`,
    ]);
    expect(await findRefusedCalls()).toEqual([
      'team.peek(integer) as graph_helper: permission denied for function count',
    ]);

    await database.owner.query(
      'grant execute on all functions in schema team to graph_helper; grant select on team.doors to graph_helper',
    );
    expect(await findMissing()).toEqual([]);
    expect(await findRefusedCalls()).toEqual([]);
  });
});
