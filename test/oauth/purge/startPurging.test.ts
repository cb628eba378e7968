import type { Pool } from 'pg';
import { createPool } from '../../../src/database/pool/pools.ts';
import { createLog } from '../../../src/log.ts';
import { startPurging } from '../../../src/oauth/purge.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { preparesStatements } from '../../support/database.ts';
import { createEmptiedDatabase, type EmptiedDatabase } from '../../support/emptiedDatabase.ts';
import { until } from '../../support/until.ts';
import { countIn, nothing } from './support.ts';

let database: EmptiedDatabase;
beforeAll(async () => {
  database = await createEmptiedDatabase();
});
afterEach(() => database.empty());
afterAll(() => database.drop());

const count = (table: string) => countIn(database, table);

/** As the running server does. */
const connect = (url: string): Pool =>
  createPool(
    url,
    { poolSize: 1, poolWaitMs: 2000, statementTimeoutMs: 5000, preparedStatements: preparesStatements() },
    createLog('silent'),
  );

test('goes on batch after batch until nothing is left, also as the running server', async () => {
  const hours = 3_600_000;
  await database.owner.query(
    `insert into oauth.throttles (key, points, expire)
     select 'test:' || lpad(number::text, 43, '0'), 1, $1 from generate_series(1, 2500) as number`,
    [Date.now() - hours],
  );
  const server = connect(database.authUrl);
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => lines.push(line) });

  const purging = startPurging(server, log, null, { firstMs: 1, everyMs: hours });
  await until(() => lines.length > 0);
  await purging.stop();
  await server.end();

  expect(await count('throttles')).toBe(0);
  expect(lines.map((line) => JSON.parse(line).purged)).toEqual([{ ...nothing, throttles: 2500 }]);
});

test('is done again and again', async () => {
  const server = connect(database.authUrl);
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => lines.push(line) });

  const purging = startPurging(server, log, null, { firstMs: 1, everyMs: 10 });
  await until(() => lines.length > 2);
  await purging.stop();
  const stoppedAt = lines.length;
  await server.end();

  expect(lines.every((line) => JSON.parse(line).purged.throttles === 0)).toBe(true);
  expect(lines).toHaveLength(stoppedAt);
});

test('metrics tell when it was done, and how the partitions are', async () => {
  await database.owner.query(
    `insert into feed.changes (at, organization_id, relation, key, operation, columns, origin, horizon)
     select now() - interval '1 day' * n, gen_random_uuid(), 'app_public.users', '{x}', 'CREATE', '{}', feed.origin(), '1'
     from unnest('{40,400}'::int[]) as n`,
  );
  const metrics = createMetrics();
  const server = connect(database.authUrl);
  const value = async (name: string) => (await metrics.registry.getSingleMetric(name)?.get())?.values ?? [];
  const table = (name: string) => ({ labels: { table: name } });
  const { rows } = await database.owner.query(
    'select relation, in_default::int as rows from oauth.partition_state() order by 1',
  );
  expect(rows).toEqual([
    { relation: 'audit.changes', rows: 0 },
    { relation: 'feed.changes', rows: 2 },
  ]);

  const purging = startPurging(server, createLog('silent'), metrics, { firstMs: 1, everyMs: 3_600_000 });
  await until(async () => (await value('graph_default_partition_rows')).length > 0);
  await purging.stop();
  await server.end();

  const [{ value: purgedAt } = { value: 0 }] = await value('graph_purge_timestamp_seconds');
  expect(Math.abs(purgedAt - Date.now() / 1000)).toBeLessThan(60);
  expect(await value('graph_default_partition_rows')).toEqual([
    { ...table('audit.changes'), value: 0 },
    { ...table('feed.changes'), value: 0 },
  ]);
  const days = (await value('graph_partitions_until_timestamp_seconds')).map(
    ({ value }) => (value - Date.now() / 1000) / 86_400,
  );
  expect(Math.min(...days)).toBeGreaterThan(6);
  expect(Math.max(...days)).toBeGreaterThan(80);
});

test('a database that is away is a warning, and no more', async () => {
  const url = new URL(database.authUrl);
  url.pathname = '/no_such_database';
  const server = connect(url.href);
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => lines.push(line) });

  const purging = startPurging(server, log, null, { firstMs: 1, everyMs: 10 });
  await until(() => lines.length > 1);
  await purging.stop();
  await server.end();

  expect(JSON.parse(lines[0] ?? '{}')).toMatchObject({ level: 40, error: { name: 'DatabaseUnavailable' } });
});
