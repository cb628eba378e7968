import { randomUUID } from 'node:crypto';
import { Client, Pool } from 'pg';
import { opened } from './openThings.ts';

export type TestDatabase = {
  ownerUrl: string;
  /** The authenticator's, as a running server has it. */
  authUrl: string;
  owner: Pool;
  /** Fails while anything else is still connected. */
  drop(): Promise<void>;
};

/**
 * A database of this test file's own, cloned from the migrated template, which is empty of organizations.
 *
 * @param template or from another one, whose connections are ended
 */
export async function createTestDatabase(template?: TestDatabase): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const source = new URL(template?.ownerUrl ?? process.env.TEST_OWNER_URL ?? '').pathname.slice(1);
  if (template) {
    if (!template.owner.ended) await template.owner.end();
    await asAdministrator(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${source}'`);
  }
  const { username: authenticator } = new URL(process.env.TEST_AUTH_URL ?? '');
  await asAdministrator(
    // Takes half the time of writing each page to the log, where no checkpoint waits for a disk.
    `create database ${name} template ${source} strategy file_copy`,
    // A template's privileges are its own.
    `grant connect on database ${name} to ${authenticator}, graph_auditor, graph_admin; revoke connect, temporary on database ${name} from public`,
  );
  const database = openTestDatabase(name);
  // A copy would send no webhooks.
  await database.owner.query('select app_hidden.take_webhook_charge()');
  return database;
}

/** One that is there already. */
export function openTestDatabase(name: string): TestDatabase {
  const ownerUrl = urlOf('TEST_OWNER_URL', name);
  const owner = new Pool({ connectionString: ownerUrl, max: 4 });
  // The server ends its sessions when a test stops it on purpose.
  owner.on('error', () => undefined);
  const closed = opened(`database ${name}`);

  return {
    ownerUrl,
    authUrl: urlOf('TEST_AUTH_URL', name),
    owner,
    async drop() {
      if (!owner.ended) await owner.end();
      await asAdministrator(`drop database ${name} ${heldByPooler}`);
      closed();
    },
  };
}

/** Whether the way to the databases keeps prepared statements; PgBouncer does since 1.21. Jest's set-up says so later than this is loaded. */
export const preparesStatements = () => process.env.TEST_PREPARED_STATEMENTS !== 'false';

/** PgBouncer keeps connections for the next client. */
const heldByPooler = process.env.TEST_PGBOUNCER ? 'with (force)' : '';

/** Runs statements as the owner of the cluster, outside of every test database. */
export async function asAdministrator(...statements: string[]): Promise<void> {
  const client = new Client({ connectionString: urlOf('TEST_OWNER_URL', 'postgres') });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Where the server of such a URL listens: at a Unix-domain socket, or behind PgBouncer's TCP port. */
export function listenerOf(url: string): { readonly path: string } | { readonly host: string; readonly port: number } {
  const { searchParams, hostname, port } = new URL(url);
  const directory = searchParams.get('host');
  return directory === null
    ? { host: hostname, port: Number(port) }
    : { path: `${directory}/.s.PGSQL.${searchParams.get('port')}` };
}

/** The same database by way of a TCP port of this machine. */
export function byTcp(url: string, port: number): string {
  const { username, password, pathname } = new URL(url);
  return `postgres://${username}:${password}@127.0.0.1:${port}${pathname}`;
}

function urlOf(variable: string, database: string): string {
  const url = new URL(process.env[variable] ?? '');
  url.pathname = `/${database}`;
  return url.href;
}
