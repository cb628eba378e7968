import { createLog } from '../../src/log.ts';
import { withLogin } from '../support/logins.ts';
import { createMigrationsCopy, type MigrationsCopy } from '../support/migrationsCopy.ts';
import { until } from '../support/until.ts';
import { type PostgresServer, startPostgresServer } from './support/postgresServer.ts';
import { query } from './support/query.ts';

// An autovacuum of a large table takes hours, and PostgreSQL ends it for what has waited longer than a migration does.

let server: PostgresServer;
let copy: MigrationsCopy;
beforeAll(async () => {
  copy = await createMigrationsCopy();
  // As slow as it can be.
  server = await startPostgresServer({
    autovacuum_naptime: 1,
    autovacuum_vacuum_cost_delay: 100,
    autovacuum_vacuum_cost_limit: 1,
    autovacuum_vacuum_threshold: 1000,
  });
}, 60_000);
afterAll(async () => {
  await server.remove();
  await copy.remove();
});

test('a migration does not wait for the end of an autovacuum', async () => {
  await query(
    server.ownerUrl,
    'create table app_public.events as select n, repeat(md5(n::text), 10) as text from generate_series(1, 50000) n',
  );
  await query(server.ownerUrl, 'delete from app_public.events where n % 2 = 0');
  await until(async () => (await vacuuming()) > 0);
  await copy.commit('add note', 'alter table app_public.events add column note text;');
  const logs: string[] = [];

  await copy.migrate(server, createLog('info', { write: (line) => logs.push(line) }), { lockDeadlineMs: 20_000 });

  expect(logs.join()).toContain('waits for a lock');
  await withLogin(server.ownerUrl, (client) => client.query('select note from app_public.events limit 1'));
}, 60_000);

async function vacuuming(): Promise<number> {
  const rows = await query(
    server.ownerUrl,
    `select from pg_stat_progress_vacuum where relid = 'app_public.events'::regclass and phase <> 'initializing'`,
  );
  return rows.length;
}
