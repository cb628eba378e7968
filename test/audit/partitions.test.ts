import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import { purgeExpired, type RunQuery } from '../../src/oauth/purge.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
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
     select now() + make_interval(days => days), $1, $2::uuid, 'x', $2::uuid::text, 'insert', '{}', '{"full_name": "Ada"}', 'x', 'x' from unnest(array[-300, 40, 300]) as days`,
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
