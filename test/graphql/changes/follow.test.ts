import { purgeExpired } from '../../../src/oauth/purge/purgeExpired.ts';
import { tableSql } from '../../generation/tables.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { createTenant, type OwnGraphTest, startGraphTest, type Tenant } from '../support.ts';
import { follow, inShort, present, readPage, settled } from './feed.ts';

describe('feed.follow adds the table of a team', () => {
  let graph: OwnGraphTest;
  let tenant: Tenant;
  beforeAll(async () => {
    graph = await startGraphTest();
    tenant = await createTenant(graph);
    const columns =
      'building text, floor int, seen timestamptz, note text, label text generated always as (upper(note)) stored';
    await graph.database.owner.query(`
      ${tableSql({ name: 'gates', columns, key: ['building', 'floor'] })}
      select feed.follow('app_public.gates', ignored => '{seen}')`);
    await graph.reload();
  });
  afterAll(() => graph.stop());

  const change = (statement: string) => graph.database.owner.query(statement, [tenant.organizationId]);
  const changesOf = async (statement: string) => {
    const before = await present(graph, tenant);
    await change(statement);
    return follow(graph, tenant, before);
  };
  const idOf = (...key: unknown[]) => Buffer.from(`Gate:${JSON.stringify(key)}`).toString('base64url');

  test('with the ids of its key, and node as it is now', async () => {
    const id = idOf('North', 1);

    expect(await changesOf(`insert into app_public.gates values ($1, 'North', 1)`)).toMatchObject([
      { operation: 'CREATE', typeName: 'Gate', id, node: { __typename: 'Gate', id } },
    ]);
    expect(
      (await changesOf(`update app_public.gates set note = 'Ring' where organization_id = $1`)).map(inShort),
    ).toEqual(['UPDATE Gate note']);
    expect(await changesOf('delete from app_public.gates where organization_id = $1')).toMatchObject([
      { operation: 'DELETE', typeName: 'Gate', id, node: null },
    ]);
  });

  test('under a value of the enum, which pages and webhooks of this type name', async () => {
    const before = await present(graph, tenant);
    await change(`insert into app_public.gates values ($1, 'South', 1)`);
    await change(`insert into app_public.units (organization_id, name) values ($1, 'Unit')`);
    await settled(tenant);

    const gates = await readPage(graph, tenant, { after: before, typeNames: ['Gate'] });

    expect(gates.nodes.map(inShort)).toEqual(['CREATE Gate']);
    const units = await readPage(graph, tenant, { after: before, typeNames: ['Unit'] });
    expect(units.nodes.map(inShort)).toEqual(['CREATE Unit']);
    await change('delete from app_public.gates where organization_id = $1');
  });

  test('without what is ignored, generated or stays', async () => {
    await change(`insert into app_public.gates values ($1, 'East', 1)`);

    for (const [set, told] of [
      ['seen = now()', []],
      ['note = note', []],
      [`note = 'x', seen = now() + interval '1 hour'`, ['UPDATE Gate note']],
    ] as const)
      expect((await changesOf(`update app_public.gates set ${set} where organization_id = $1`)).map(inShort)).toEqual(
        told,
      );
  });

  test('where another key is another object', async () => {
    await change(`insert into app_public.gates values ($1, 'West', 1)`);

    const changes = await changesOf(
      `update app_public.gates set floor = 2 where organization_id = $1 and building = 'West'`,
    );

    expect(changes).toMatchObject([
      { operation: 'DELETE', id: idOf('West', 1), fields: [], node: null },
      { operation: 'CREATE', id: idOf('West', 2), fields: [], node: { id: idOf('West', 2) } },
    ]);
  });

  test.each([
    [
      'without organization_id',
      'create table app_public.wrong (id uuid primary key)',
      '',
      /has no column organization_id/,
    ],
    [
      'without a primary key',
      'create table app_public.wrong (organization_id uuid, id uuid)',
      '',
      /has no primary key/,
    ],
    [
      'with a name that is no column',
      'create table app_public.wrong (organization_id uuid, id uuid primary key)',
      `, ignored => '{seen}'`,
      /has no column seen/,
    ],
    [
      'that is not in the graph',
      'create table app_hidden.wrong (organization_id uuid, id uuid primary key)',
      '',
      /is not in the graph/,
    ],
  ])('and refuses one %s', async (_, table, rest, message) => {
    const schema = table.includes('app_hidden') ? 'app_hidden' : 'app_public';
    const right = `begin; ${'create table app_public.wrong (organization_id uuid, id uuid primary key, seen int)'}; select feed.follow('app_public.wrong'${rest}); rollback`;

    const client = await graph.database.owner.connect();
    await expect(client.query(`begin; ${table}; select feed.follow('${schema}.wrong'${rest})`)).rejects.toThrow(
      message,
    );
    await client.query('rollback');
    client.release();
    await expect(graph.database.owner.query(right)).resolves.toBeDefined();
  });

  test('whose changes go when it is dropped, and all others stay', async () => {
    const before = await present(graph, tenant);
    await change(`insert into app_public.gates values ($1, 'South', 1)`);
    await change(`insert into app_public.units (organization_id, name) values ($1, 'HQ')`);
    expect((await follow(graph, tenant, before)).map(inShort)).toEqual(['CREATE Gate', 'CREATE Unit']);

    await graph.database.owner.query('drop table app_public.gates');

    expect((await follow(graph, tenant, before)).map(inShort)).toEqual(['CREATE Unit']);
    await graph.reload();
    expect((await follow(graph, tenant, before, 1)).map(inShort)).toEqual(['CREATE Unit']);
  });

  // Else their streams would read as often as the service asks.
  test('whose changes count as none when it is dropped', async () => {
    const { owner } = graph.database;
    await owner.query(`${tableSql({ name: 'hatches', columns: 'floor int', key: ['floor'] })}
      select feed.follow('app_public.hatches')`);
    const other = await createTenant(graph);
    await owner.query('insert into app_public.hatches values ($1, 1)', [other.organizationId]);
    await settled(other);
    const changed = async () => {
      const { rows } = await owner.query(`select feed.changed_since(array[$1::uuid], '{0}', '{0}') as changed`, [
        other.organizationId,
      ]);
      return rows[0]?.changed;
    };
    expect(await changed()).toEqual([other.organizationId]);

    await owner.query('drop table app_public.hatches');

    expect(await changed()).toEqual([]);
  });
});

describe('the days of the feed', () => {
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

  test('are made ahead, and the default partition has what has no day', async () => {
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

  test('are made for what has come to the default partition, and the old ones of these are dropped', async () => {
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

  test('are a finding when there is none for tomorrow, until a purge', async () => {
    await query(`drop table feed.${await dayOf(-1)}`);
    expect((await partitionFindings()).map(([name, object]) => [name, object])).toEqual([
      ['partition_missing', 'feed.changes'],
    ]);

    await purge();
    expect(await partitionFindings()).toEqual([]);
  });

  test('are rotated though the history is in use', async () => {
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

  test('are dropped when all of them is older than the retention, and no day before', async () => {
    await addDays(40, 32, 31, 30, 29, 1);
    await insert(40, 32, 31, 30, 29, 1);

    expect(await purge()).toMatchObject({ feedDays: 3 });

    expect((await kept()).map(([ago]) => ago)).toEqual([30, 29, 1]);
    await query(`create or replace function feed.retention() returns interval
      language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$ select interval '7 days' $$`);
    expect(await purge()).toMatchObject({ feedDays: 2 });
    expect((await kept()).map(([ago]) => ago)).toEqual([1]);
  });

  test('are rotated by one session at a time', async () => {
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
});

test('a reader begins with the oldest change that is kept, and goes on from there', async () => {
  const graph = await startGraphTest();
  const tenant = await createTenant(graph);
  const { owner } = graph.database;
  await owner.query(
    `insert into app_public.units (organization_id, name) select $1, n::text from generate_series(1, 4) n`,
    [tenant.organizationId],
  );
  await owner.query(
    `update feed.changes set at = date_trunc('day', now() - interval '30 days', 'UTC') + (id - 2) * interval '1 second'`,
  );
  await settled(tenant);
  const first = (await readPage(graph, tenant, { first: 1 })).nodes.map(({ at }) => at);

  const changes = await follow(graph, tenant, null, 1);

  const { rows } = await owner.query(`select count(*)::int from feed.changes where at >= feed.oldest()`);
  expect(changes).toHaveLength(rows[0].count);
  expect(changes[0]?.at).toBe(first[0]);
  await graph.stop();
});
