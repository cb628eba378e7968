import { purgeExpired } from '../../../src/oauth/purge.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

// The feed's partitions, which are days, and how the service asks them all for what is new.

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

const query = async (statement: string) => (await database.owner.query(statement)).rows;
const purge = () => purgeExpired((statement) => database.owner.query(statement));
const insert = (...days: number[]) =>
  query(`insert into feed.changes (origin, horizon, at, organization_id, relation, key, operation, columns)
    select feed.origin(), '3', now() - make_interval(days => days), '${'0'.repeat(8)}-0000-0000-0000-000000000000', days, '{}', 'CREATE', '{}'
    from unnest(array[${days}]) as days`);
const kept = async () =>
  (await query('select relation, tableoid::regclass::text as day from feed.changes order by at')).map(
    ({ relation, day }) => [Number(relation), /default/.test(day) ? 'default' : 'day'],
  );
const partitionFindings = async () =>
  (await query(`select name, object, detail from audit.findings where name like 'partition%' order by name`)).map(
    ({ name, object, detail }) => [name, object, detail],
  );
/** Partitions of days that have passed, as they were when these were the present. */
const addDays = (...ago: number[]) =>
  query(
    `select feed.create_partition((statement_timestamp() at time zone 'UTC')::date - ago) from unnest(array[${ago}]) as ago`,
  );

test('the days of the feed are made ahead, and the default partition has what has no day', async () => {
  await insert(0, -6, -40);
  expect(await kept()).toEqual(
    [
      [-40, 'default'],
      [-6, 'day'],
      [0, 'day'],
    ].toReversed(),
  );

  await query(`drop table feed.${await dayOf(-3)}`);
  expect(await purge()).toMatchObject({ newFeedDays: 2, feedDays: 0 });
  expect(await purge()).toMatchObject({ newFeedDays: 0, feedDays: 0 });
});

test('the days of the feed are made for what has come to the default partition, and the old ones of these are dropped', async () => {
  await query(`drop table feed.${await dayOf(0)}`);
  await insert(0, 3, 40, -40);
  expect((await kept()).map(([, day]) => day)).toEqual(Array(4).fill('default'));
  expect(await partitionFindings()).toEqual([
    ['partition_default', 'feed.changes_default', 'has 4 rows of a time that no partition is for'],
    ['partition_missing', 'feed.changes', expect.stringMatching(/^has partitions until .+ alone$/)],
  ]);

  expect(await purge()).toMatchObject({ newFeedDays: 4, feedDays: 1 });
  expect(await partitionFindings()).toEqual([]);

  expect(await kept()).toEqual([
    [3, 'day'],
    [0, 'day'],
    [-40, 'day'],
  ]);
  expect(
    await query(
      `select relrowsecurity and relforcerowsecurity as guarded from pg_class where oid = 'feed.changes_default'::regclass`,
    ),
  ).toEqual([{ guarded: true }]);
  await insert(0, 3);
  expect(await query('select from feed.changes_default')).toEqual([]);
});

test('the days of the feed are a finding when there is none for tomorrow, until a purge', async () => {
  await query(`drop table feed.${await dayOf(-1)}`);
  expect((await partitionFindings()).map(([name, object]) => [name, object])).toEqual([
    ['partition_missing', 'feed.changes'],
  ]);

  await purge();
  expect(await partitionFindings()).toEqual([]);
});

test('the days of the feed are rotated though the history is in use', async () => {
  await addDays(40);
  await query(`insert into audit.changes (occurred_at, organization_id, subject_id, relation, row_id, command, columns, role, login)
    select now() - interval '100 days', gen_random_uuid(), gen_random_uuid(), 'x', gen_random_uuid(), 'insert', '{}', 'x', 'x'`);
  const reader = await database.owner.connect();
  await reader.query('begin; lock table audit.changes_default in access share mode');

  await expect(purge()).rejects.toMatchObject({ code: '55P03' });

  expect(await query(`select to_regclass('feed.${await dayOf(40)}') as day`)).toEqual([{ day: null }]);
  await reader.query('rollback');
  reader.release();
  expect(await purge()).toMatchObject({ newMonths: 1 });
});

test('the days of the feed are dropped when all of them is older than the retention, and no day before', async () => {
  await addDays(40, 32, 31, 30, 29, 1);
  await insert(40, 32, 31, 30, 29, 1);

  expect(await purge()).toMatchObject({ feedDays: 3 });

  expect((await kept()).map(([ago]) => ago)).toEqual([30, 29, 1]);
  await query(`create or replace function feed.retention() returns interval
    language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$ select interval '7 days' $$`);
  expect(await purge()).toMatchObject({ feedDays: 2 });
  expect((await kept()).map(([ago]) => ago)).toEqual([1]);
});

test('the days of the feed are rotated by one session at a time', async () => {
  const other = await database.owner.connect();
  await other.query(`begin; select pg_advisory_xact_lock(hashtextextended('feed.rotate_partitions', 0))`);
  await addDays(40);

  expect(await query('select * from feed.rotate_partitions()')).toEqual([]);
  await other.query('rollback');
  other.release();
  const rounds = await Promise.allSettled(Array.from({ length: 4 }, purge));

  for (const round of rounds) if (round.status === 'rejected') expect(round.reason).toMatchObject({ code: '55P03' });
  await purge();
  expect(await query(`select to_regclass('feed.${await dayOf(40)}') as day`)).toEqual([{ day: null }]);
});

const dayOf = async (ago: number) =>
  (
    await query(
      `select to_char(statement_timestamp() at time zone 'UTC' - interval '${ago} days', '"changes_"YYYY_MM_DD') as name`,
    )
  )[0]?.name;

// A join of both would read the whole feed with each tick of the streams.
test('who has new changes is asked of the index alone, however many ask', async () => {
  const { rows: ids } = await database.owner.query<{ ids: string[] }>(
    `with made as (
       insert into app_hidden.organizations (name) select 'Many ' || n from generate_series(1, 40) as n returning id),
     filled as (
       insert into feed.changes (origin, horizon, organization_id, relation, key, operation, columns)
       select feed.origin(), n::text::xid8, id, 'app_public.users', array[n::text], 'CREATE', '{}' from made cross join generate_series(4, 503) as n)
     select array_agg(id) as ids from made`,
  );
  const organizations = ids[0]?.ids ?? [];
  const client = await database.owner.connect();
  await client.query('analyze feed.changes');
  const ask = async (horizon: number) => {
    await client.query('begin; set local role graph_oauth');
    const { rows } = await client.query(
      `select feed.changed_since($1, array_fill($2::text::xid8, array[40]), array_fill(0::bigint, array[40])) as changed`,
      [organizations, horizon],
    );
    await client.query('reset role');
    const { rows: scans } = await client.query(
      `select sum(seq_scan)::int as whole, sum(idx_scan)::int as by_index from pg_stat_xact_user_tables where schemaname = 'feed'`,
    );
    await client.query('commit');
    return { changed: rows[0]?.changed, scans: scans[0] };
  };

  const [some, none] = [await ask(503), await ask(504)];
  client.release();

  expect(some.changed.toSorted()).toEqual(organizations.toSorted());
  expect(none.changed).toEqual([]);
  for (const { scans } of [some, none]) expect(scans).toEqual({ whole: 0, by_index: expect.any(Number) });
  expect(none.scans.by_index).toBeGreaterThan(40);
});
