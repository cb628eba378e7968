import { randomUUID } from 'node:crypto';
import { Client, Pool, type PoolClient } from 'pg';
import { parseHead } from '../../src/commands/audit/history/head.ts';
import { seal } from '../../src/commands/audit/history/seal.ts';
import { verify } from '../../src/commands/audit/history/verify.ts';
import { readCommitted } from '../../src/database/migrations/committedMigrations.ts';
import { isWithoutTransaction } from '../../src/database/migrations/graphileMigrate.ts';
import { preparePartitions } from '../../src/database/migrations/partitions.ts';
import { createLog } from '../../src/log.ts';
import { purgeExpired, type RunQuery } from '../../src/oauth/purge/purgeExpired.ts';
import { asAdministrator, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { undone } from './support.ts';

let database: TestDatabase;
let purge: RunQuery;
beforeEach(async () => {
  database = await createTestDatabase();
  purge = (statement) => database.owner.query(statement);
});
afterEach(() => database.drop());

const query = async (statement: string, values: unknown[] = []) => (await database.owner.query(statement, values)).rows;

/** Changes of so many days ago; negative ones are of the future. */
const record = (...days: number[]) =>
  query(
    `insert into audit.changes (occurred_at, organization_id, subject_id, relation, row_id, command, columns, role, login)
     select now() - make_interval(days => days), gen_random_uuid(), gen_random_uuid(), days::text, gen_random_uuid(), 'insert', '{}', 'x', 'x'
     from unnest($1::int[]) as days returning id::int`,
    [days],
  );

const recorded = async () => (await query('select relation from audit.changes order by id')).map((row) => row.relation);

const waiting = `select from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())`;

const partitions = `
  select partition::text, since at time zone 'UTC' as since, until at time zone 'UTC' as until from audit.partitions order by 2 nulls first, 1`;

describe('the months of the history', () => {
  it('are made for this month and the next three, each beside the other', async () => {
    const rows = await query(
      `select partition::text = 'audit.changes_' || to_char(since at time zone 'UTC', 'YYYY_MM') as named,
         (since at time zone 'UTC')::timestamp = date_trunc('month', now() at time zone 'UTC') + make_interval(months => (row_number() over (order by since))::int - 1) as follows,
         until at time zone 'UTC' - since at time zone 'UTC' between interval '28 days' and interval '31 days' as is_month
       from audit.partitions where since is not null`,
    );

    expect(rows).toEqual(Array(4).fill({ named: true, follows: true, is_month: true }));
    expect(await query('select audit.create_partitions() as made')).toEqual([{ made: 0 }]);
  });

  it('take what is written now, and the default partition what no month is there for', async () => {
    await record(0, 1000, -1000);

    expect(
      await query(
        `select relation, tableoid = 'audit.changes_default'::regclass as unplaced from audit.changes order by id`,
      ),
    ).toEqual([
      { relation: '0', unplaced: false },
      { relation: '1000', unplaced: true },
      { relation: '-1000', unplaced: true },
    ]);
  });

  it('are made for what has come to the default partition, whose rows keep their ids and their order', async () => {
    const ids = await record(30, 200, 20, -200, 31);

    const purged = await purgeExpired(purge);

    expect(purged).toMatchObject({ changes: 0, months: 0 });
    expect(purged?.newMonths).toBeGreaterThan(1);
    expect(await query('select id::int from audit.changes order by id')).toEqual(ids);
    expect(await query('select from audit.changes_default')).toEqual([]);
    await record(201);
    expect(await query('select from audit.changes_default')).toEqual([]);
  });

  it('lets a history go on whose clock was set to another year, and was set right', async () => {
    await record(-5000, 0);
    await purgeExpired(purge);
    const [next] = await record(0);

    expect(await recorded()).toEqual(['-5000', '0', '0']);
    expect(next?.id).toBe((await query('select max(id)::int as id from audit.changes'))[0]?.id);
    expect(await purgeExpired(purge)).toMatchObject({ months: 0, newMonths: 0 });
  });
});

describe('a purge', () => {
  it('drops the months of which all is older than 400 days, and nothing else', async () => {
    await record(399, 440, 475, 0);

    const purged = await purgeExpired(purge);

    expect(purged).toMatchObject({ changes: 0, months: 2 });
    expect(await recorded()).toEqual(['399', '0']);
    expect(await purgeExpired(purge)).toMatchObject({ changes: 0, months: 0 });
  });

  it('keeps what an administrator has decided to keep', async () => {
    await query(`create or replace function audit.retention() returns interval
      language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$ select interval '60 days' $$`);
    await record(59, 100);

    expect(await purgeExpired(purge)).toMatchObject({ months: 1 });
    expect(await recorded()).toEqual(['59']);
  });

  it('gives up beside a long reader, without letting writers wait, and does it later', async () => {
    await record(500);
    await query('select audit.create_partitions()');
    const reader = await reading();

    await expect(purgeExpired(purge)).rejects.toMatchObject({ code: '55P03' });
    await record(0);

    expect(await recorded()).toEqual(['500', '0']);
    await reader.end();
    expect(await purgeExpired(purge)).toMatchObject({ months: 1 });
    expect(await recorded()).toEqual(['0']);
  });

  it('makes no month beside a long reader, without letting writers wait, and makes it later', async () => {
    await record(-500);
    const reader = await reading();

    await expect(purgeExpired(purge)).rejects.toMatchObject({ code: '55P03' });
    await record(0, -500);

    await reader.end();
    expect(await purgeExpired(purge)).toMatchObject({ newMonths: 1 });
    expect(await query('select from audit.changes_default')).toEqual([]);
    expect(await recorded()).toEqual(['-500', '0', '-500']);
  });

  it('is done by one of many at once, while writers go on', async () => {
    await record(500, 600, 700, -500);
    const writing = Promise.all(Array.from({ length: 30 }, () => record(0, -510)));

    const outcomes = await Promise.allSettled(Array.from({ length: 4 }, () => purgeExpired(purge)));
    await writing;
    await purgeExpired(purge);

    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: '55P03' });
    expect((await recorded()).sort()).toEqual(['-500', ...Array(30).fill('-510'), ...Array(30).fill('0')]);
  });

  it('keeps what a writer writes who has waited for a month to be made', async () => {
    await record(-500);
    const purging = await database.owner.connect();
    await purging.query('begin; select audit.create_partitions()');

    const writing = record(-500);
    await until(async () => (await query(waiting)).length > 0);
    await purging.query('commit');
    purging.release();
    await writing;

    expect(await recorded()).toEqual(['-500', '-500']);
    expect(await query('select from audit.changes_default')).toEqual([]);
  });

  /** A transaction that has read the history and has not ended. */
  async function reading(): Promise<{ end(): Promise<void> }> {
    const client: PoolClient = await database.owner.connect();
    await client.query('begin; select from audit.changes');
    return {
      async end() {
        await client.query('commit');
        client.release();
      },
    };
  }
});

describe('a partition by its name', () => {
  const roles = [
    'graph_app',
    'graph_user',
    'graph_basic',
    'graph_oauth',
    'graph_admin',
    'graph_auditor',
    'graph_helper',
    'graph_purger',
  ];

  it.each(roles)('is closed to %s, whatever it may do with the history', async (role) => {
    await record(0, 1000);
    const names = await query('select partition::text as name from audit.partitions');
    expect(names.length).toBe(5);

    for (const { name } of names)
      for (const statement of [
        `select from ${name}`,
        `delete from ${name}`,
        `update ${name} set before = null, after = null`,
        `insert into ${name} (organization_id) values (gen_random_uuid())`,
        `truncate ${name}`,
      ])
        await expect(undone(database.owner, `set local role ${role}`, statement)).rejects.toMatchObject({
          code: '42501',
        });
  });

  it('is as guarded as all tables, and read by its owner alone', async () => {
    const rows = await query(
      `select distinct c.relrowsecurity, c.relforcerowsecurity, c.relacl,
         array(select format('%s %s %s', polname, polcmd, polroles::regrole[]) from pg_policy where polrelid = c.oid) as policies
       from audit.partitions p join pg_class c on c.oid = p.partition`,
    );

    expect(rows).toEqual([
      {
        relrowsecurity: true,
        relforcerowsecurity: true,
        relacl: null,
        policies: ['select_graph_admin r {graph_admin}'],
      },
    ]);
    expect(await query(`select object from audit.findings where object ~ '^audit\\.'`)).toEqual([]);
  });
});

test('the questions by organization, actor and time are answered by indexes of each month', async () => {
  const plan = async (where: string) => {
    const rows = await undone(
      database.owner,
      'set local enable_seqscan = off; set local enable_bitmapscan = off',
      `explain select * from audit.changes where ${where}`,
    );
    return rows.map((row) => Object.values(row)[0]).join('\n');
  };
  const someone = `'${randomUUID()}'`;
  const month = `to_char(now() at time zone 'UTC', 'YYYY_MM')`;
  const [{ name }] = (await query(`select 'changes_' || ${month} as name`)) as [{ name: string }];

  for (const [where, index] of [
    [`subject_id = ${someone} order by id`, 'pkey'],
    [`organization_id = ${someone} and occurred_at >= now() - interval '1 day'`, 'organization_id_occurred_at_idx'],
    [`user_id = ${someone} order by occurred_at`, 'user_id_occurred_at_idx'],
    [`application_id = ${someone} order by occurred_at`, 'application_id_occurred_at_idx'],
    [`true order by occurred_at desc, id desc limit 100`, 'occurred_at_id_idx'],
  ] as const) {
    const text = await plan(where);
    expect(text).toContain(`${name}_${index}`);
    expect(text).not.toContain('Seq Scan');
  }
});

/**
 * What 0.x recorded before the history had partitions is one partition of many months, in a database that was carried over.
 * By an owner who is no superuser, on whom row-level security is forced.
 */
describe('a history from before it had partitions', () => {
  const name = `history_${randomUUID().slice(0, 8)}`;
  let owner: Pool;
  let rows: Record<string, unknown>[];

  const changes = 'select id, occurred_at, relation, server_request_id from audit.changes order by id';

  beforeAll(async () => {
    await asAdministrator(`create role ${name} login createrole password 'x'`);
    for (const role of ['app', 'user', 'basic', 'oauth', 'admin', 'helper', 'purger', 'auditor'])
      await asAdministrator(`grant graph_${role} to ${name} with admin option`);
    await asAdministrator(`create database ${name} owner ${name} template template0`);
    const url = new URL(process.env.TEST_OWNER_URL ?? '');
    Object.assign(url, { pathname: `/${name}`, username: name, password: 'x' });
    owner = new Pool({ connectionString: url.href, max: 3 });

    for (const { body } of await readCommitted())
      await owner.query(isWithoutTransaction(body) ? body : `begin; ${body}; commit`);
    await owner.query(`
      begin;
      create table audit.changes_before (
        like audit.changes including constraints, constraint changes_before_pkey primary key (subject_id, organization_id, id));
      create policy insert_graph_admin on audit.changes_before for insert to graph_admin with check (true);
      insert into audit.changes_before (id, occurred_at, organization_id, subject_id, relation, row_id, command, columns, role, login)
      select nextval('audit.changes_id_seq'), now() - make_interval(days => days), organization, organization, 'x', organization, 'insert', '{}', 'x', 'x'
      from unnest('{500,300}'::int[]) as days, gen_random_uuid() as organization;
      drop policy insert_graph_admin on audit.changes_before;
      select audit.guard_partition('audit.changes_before');
      create policy delete_graph_admin on audit.changes_before for delete to graph_admin
        using (occurred_at <= statement_timestamp() - (select audit.retention()));
      comment on policy delete_graph_admin on audit.changes_before is 'oauth.purge_changes deletes what is older than audit.retention.';
      do $$
      begin
        execute format('alter table audit.changes attach partition audit.changes_before for values from (minvalue) to (%L)',
          (select min(since) from audit.partitions));
      end
      $$;
      insert into app_hidden.organizations (name) values ('New');
      commit`);
    rows = (await owner.query(changes)).rows;
  });

  afterAll(async () => {
    await owner.end();
    await asAdministrator(`drop database ${name}`);
    await asAdministrator(`drop role ${name}`);
  });

  const asked = async (statement: string) => (await owner.query(statement)).rows;

  it('is the first partition', async () => {
    expect(rows).toHaveLength(3);
    expect((await asked(partitions))[0]).toMatchObject({ partition: 'audit.changes_before', since: null });
  });

  it('is as guarded as its other partitions', async () => {
    expect(await asked(`select object from audit.findings where object like 'audit.%'`)).toEqual([]);
    expect(
      await asked(`select relacl from pg_class where oid = 'audit.changes_before'::regclass and relacl is not null
        and exists (select from aclexplode(relacl) where grantee <> relowner)`),
    ).toEqual([]);
    await expect(owner.query(`update audit.changes_before set login = 'x'`)).resolves.toMatchObject({ rowCount: 0 });
    await expect(owner.query(`delete from audit.changes where relation = 'x'`)).resolves.toMatchObject({ rowCount: 0 });
  });

  it('gets the indexes that it lacks from db:migrate, beside writers, once', async () => {
    const lacking = `
      select count(*)::int from pg_index p where p.indrelid = 'audit.changes'::regclass
        and not exists (select from pg_inherits i join pg_index own on own.indexrelid = i.inhrelid
          where i.inhparent = p.indexrelid and own.indrelid = 'audit.changes_before'::regclass)`;
    await owner.query('create index changes_relation_idx on only audit.changes (relation, occurred_at)');
    expect(await asked(lacking)).toEqual([{ count: 1 }]);
    const migrator = await owner.connect();
    // One that was interrupted.
    await owner.query('create index changes_before_relation_idx on audit.changes_before (relation, occurred_at)');
    await asAdministratorOf(
      `update pg_index set indisvalid = false where indexrelid = 'audit.changes_before_relation_idx'::regclass`,
    );

    for (let round = 0; round < 2; round += 1) await preparePartitions(migrator, '5s', createLog('silent'));

    migrator.release();
    expect(await asked(lacking)).toEqual([{ count: 0 }]);
    expect(
      await asked(`select indexrelid::regclass::text from pg_index where indrelid in (
        select partition from audit.partitions union all select 'audit.changes'::regclass) and not indisvalid`),
    ).toEqual([]);
  });

  it('loses what is older than 400 days, as its own policy says, and stays as it was sealed', async () => {
    const sealed = { pool: owner, url: '' };
    const head = parseHead((await seal(sealed)).text);
    if (!head) throw new Error('No head');
    const purged = await purgeExpired((statement) => owner.query(statement));

    expect(purged).toMatchObject({ changes: 1, months: 0 });
    const left = await asked(changes);
    expect(left.slice(0, 2)).toEqual(rows.slice(1));
    const verified = await verify(sealed, head);
    expect(verified).toMatchObject({ findings: 0, text: expect.stringContaining('| 1 | are gone with months') });
    await expect(owner.query('delete from audit.changes_before')).resolves.toMatchObject({ rowCount: 0 });
  });

  it('moves what came to the default partition, which its owner cannot change otherwise', async () => {
    await asAdministratorOf(
      `insert into audit.changes (occurred_at, organization_id, subject_id, relation, row_id, command, columns, role, login)
       select now() + interval '300 days', id, id, 'late', id, 'insert', '{}', 'x', 'x' from app_hidden.organizations limit 1`,
    );
    await expect(owner.query('delete from audit.changes_default')).resolves.toMatchObject({ rowCount: 0 });
    const before = await asked(`select * from audit.changes where relation = 'late'`);

    expect(await purgeExpired((statement) => owner.query(statement))).toMatchObject({ newMonths: 1 });

    expect(before).toHaveLength(1);
    expect(await asked(`select * from audit.changes where relation = 'late'`)).toEqual(before);
    expect(await asked('select from audit.changes_default')).toEqual([]);
    expect(
      await asked(`select relforcerowsecurity from pg_class where oid = 'audit.changes_default'::regclass`),
    ).toEqual([{ relforcerowsecurity: true }]);
  });

  it('gives up making months while it is read, and db:migrate goes on', async () => {
    await asAdministratorOf(
      `insert into audit.changes (occurred_at, organization_id, subject_id, relation, row_id, command, columns, role, login)
       select now() + interval '600 days', id, id, 'later', id, 'insert', '{}', 'x', 'x' from app_hidden.organizations limit 1`,
    );
    const reader = await owner.connect();
    await reader.query('begin; select from audit.changes');
    const lines: string[] = [];
    const log = createLog('warn', { write: (line) => lines.push(line) });
    const migrator = await owner.connect();

    await preparePartitions(migrator, '10ms', log);

    expect(lines.map((line) => JSON.parse(line).error.code)).toEqual(['55P03']);
    await reader.query('commit');
    await preparePartitions(migrator, '10ms', log);
    expect(lines).toHaveLength(1);
    expect(await asked('select from audit.changes_default')).toEqual([]);
    for (const client of [reader, migrator]) client.release();
  });

  async function asAdministratorOf(statement: string): Promise<void> {
    const url = new URL(process.env.TEST_OWNER_URL ?? '');
    url.pathname = `/${name}`;
    const client = new Client({ connectionString: url.href });
    await client.connect();
    await client.query(statement);
    await client.end();
  }
});

test('a deleted person is erased from every month', async () => {
  const [{ organization }] = (await query(
    `insert into app_hidden.organizations (name) values ('Acme') returning id as organization`,
  )) as [{ organization: string }];
  const [{ person }] = (await query(
    `insert into app_public.users (organization_id, full_name, email) values ($1, 'Ada', 'ada@acme.test') returning id as person`,
    [organization],
  )) as [{ person: string }];
  await query(
    `insert into audit.changes (occurred_at, organization_id, subject_id, relation, row_id, command, columns, after, role, login)
     select now() + make_interval(days => days), $1, $2, 'x', $2, 'insert', '{}', '{"full_name": "Ada"}', 'x', 'x' from unnest(array[-300, 40, 300]) as days`,
    [organization, person],
  );

  await query('delete from app_public.users where id = $1', [person]);

  expect(
    await query(
      'select count(*)::int as entries, count(after)::int as telling from audit.changes where subject_id = $1',
      [person],
    ),
  ).toEqual([{ entries: 5, telling: 0 }]);
});

test('a purge waits for a writer no longer than it may, and the writer not at all', async () => {
  await record(500);
  await query('select audit.create_partitions()');
  const writer = await database.owner.connect();
  await writer.query('begin');
  await writer.query(`insert into app_hidden.organizations (name) values ('Acme')`);
  const purging = purgeExpired(purge).then(
    () => null,
    (error: unknown) => error,
  );
  await until(
    async () =>
      (await query(`select from pg_locks where not granted and relation = 'audit.changes'::regclass`)).length > 0 ||
      (await Promise.race([purging, 'pending'])) !== 'pending',
  );

  await writer.query(`insert into app_hidden.organizations (name) values ('Other')`);

  expect(await purging).toMatchObject({ code: '55P03' });
  await writer.query('commit');
  writer.release();
  // PostgreSQL reports an error before it ends the transaction, which until then is another purge.
  await until(async () => (await purgeExpired(purge))?.months === 1);
});
