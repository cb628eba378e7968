import { rmSync } from 'node:fs';
import { Client } from 'pg';
import { createLog } from '../../src/log.ts';
import { createTestDataDirectory, directoryInMemory, removeTestDataDirectory } from './dataDirectory.ts';
import { createDatabaseIn, type Locale } from './locales.ts';
import { createMigratedDataDirectory, createTemplate } from './migratedDataDirectory.ts';
import { type PgBouncer, startPgBouncer } from './pgbouncer.ts';
import { startWithOneLogin } from './startWithOneLogin.ts';

/**
 * A PostgreSQL for each worker; its migrated database is the template of every test file's own.
 * The feed waits for the oldest transaction of a whole server, so on a shared one a migration in one file would hold up the others.
 */
export default async function globalSetup({ maxWorkers }: { maxWorkers: number }): Promise<void> {
  // A run that is ended early takes its server along: that goes with the process' exit, which a signal alone skips.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const dataDir = await createTestDataDirectory(await directoryInMemory());
  const template = await createTemplate(dataDir, createLog('warn'));
  const isElsewhere = process.env.TEST_LOCALE ?? process.env.TEST_POSTGRES_URL ?? process.env.TEST_PGBOUNCER;
  const copies = Array.from({ length: isElsewhere ? 0 : maxWorkers - 1 }, createMigratedDataDirectory);
  const directories = [dataDir, ...(await Promise.all(copies))];
  const servers = await Promise.all(directories.map(startServer));
  // A run that is ended early does not come to the tear-down, and memory is scarcer than disk. The servers have ended by then.
  process.once('exit', () => {
    for (const directory of [template, ...directories]) rmSync(directory, { recursive: true, force: true });
  });

  const urls = servers.map(({ ownerUrl, authUrl }) => ({ ownerUrl, authUrl }));
  process.env.TEST_SERVERS = JSON.stringify(isElsewhere ? [] : urls);
  process.env.TEST_OWNER_URL = urls[0]?.ownerUrl;
  process.env.TEST_AUTH_URL = urls[0]?.authUrl;
  globalThis.testServers = { template, stop: () => Promise.all(servers.map(({ stop }) => stop())) };
  // For a package's tests, which make databases of their own.
  if (process.env.TEST_POSTGRES_URL) process.env.TEST_OWNER_URL = process.env.TEST_POSTGRES_URL;
  if (process.env.TEST_LOCALE) await goByLocale(process.env.TEST_LOCALE as Locale, process.env.TEST_POSTGRES_URL);
  if (process.env.TEST_PGBOUNCER) await goByPgBouncer(process.env.TEST_PGBOUNCER, urls[0]?.authUrl ?? '');
}

async function startServer(dataDir: string) {
  const server = await startWithOneLogin(dataDir, createLog('warn'));
  const owner = new Client({ connectionString: server.ownerUrl });
  await owner.connect();
  // Nothing is durable here but everything is created often. Autovacuum would come upon the databases at random.
  for (const setting of ['fsync', 'full_page_writes', 'autovacuum'])
    await owner.query(`alter system set ${setting} = off`);
  await owner.query('select pg_reload_conf()');
  await owner.end();
  const stop = async () => {
    await server.stop();
    await removeTestDataDirectory(dataDir);
  };
  return { ...server, stop };
}

/** Test files clone a template of this locale: on the same server, or on another, whose superuser the URL names. */
async function goByLocale(locale: Locale, superuserUrl?: string): Promise<void> {
  if (superuserUrl) {
    process.env.TEST_OWNER_URL = superuserUrl;
    const login = new URL(superuserUrl);
    login.username = 'graph_authenticator';
    process.env.TEST_AUTH_URL = login.href;
  }
  const template = await createDatabaseIn(locale);
  await template.owner.end();
  process.env.TEST_OWNER_URL = template.ownerUrl;
}

/** Services reach their databases by way of it; tests look at them directly. */
async function goByPgBouncer(program: string, authUrl: string): Promise<void> {
  const pgbouncer = await startPgBouncer(program, authUrl);
  process.env.TEST_AUTH_URL = pgbouncer.authUrl;
  process.env.TEST_PREPARED_STATEMENTS = String(pgbouncer.preparesStatements);
  globalThis.testPgBouncer = pgbouncer;
}

declare global {
  // Jest hands it from the set-up to the tear-down.
  var testServers: { template: string; stop(): Promise<unknown> } | undefined;
  var testPgBouncer: PgBouncer | undefined;
}
