import { createHash } from 'node:crypto';
import { access, readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Client } from 'pg';
import { createDataDirectory, lockDataDirectory } from '../../../src/database/embedded/dataDirectory.ts';
import { migrationsFolder } from '../../../src/database/migrations/committedMigrations.ts';
import { startMigrated } from '../../../src/database/openDatabase.ts';
import { createLog, type Log } from '../../../src/log.ts';
import { removeTestDataDirectory } from '../../../test/support/dataDirectory.ts';
import { startWithOneLogin } from '../../../test/support/startWithOneLogin.ts';
import { buildData } from './buildData.ts';
import { type Size, type SizeName, sizes } from './sizes.ts';

export type Data = {
  /** A superuser's. */
  ownerUrl: string;
  /** The authenticator's. */
  authUrl: string;
  /** PGDATA. */
  cluster: string;
  /** Stops the database; what was changed is forgotten if it was a copy. */
  close(): Promise<void>;
};

/**
 * The data set in a running PostgreSQL. It is built once and kept in the directory for temporary files until migrations or generator
 * change. Every run gets a copy of the small one, which it may change. The large one is used as it is.
 */
export async function openData(name: SizeName, report: (line: string) => void): Promise<Data> {
  const log = createLog('error');
  const resources = new AsyncDisposableStack();
  const close = () => resources.disposeAsync();
  try {
    const directory = await prepareDirectory(name);
    const lock = await lockDataDirectory(directory);
    if (!lock) throw new Error(`Another bench uses ${directory}; wait for it.`);
    resources.defer(lock.release);

    const isBuilt = await exists(join(directory, builtFile));
    if (!isBuilt) await configureServer(directory, sizes[name].serverSettings, log);
    const postgres = await startWithOneLogin(directory, log);
    resources.defer(postgres.stop);
    const { ownerUrl, authUrl, cluster } = postgres;
    if (!isBuilt) {
      report(`Building the ${name} data set in ${directory}, once:`);
      await buildData(ownerUrl, sizes[name], report);
      await writeFile(join(directory, builtFile), '');
    }
    if (name === 'large') return { ownerUrl, authUrl, cluster, close };
    await copyDatabase(ownerUrl);
    return { ownerUrl: named(ownerUrl, copyName), authUrl: named(authUrl, copyName), cluster, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const builtFile = 'bench-data-is-built';
const copyName = 'bench_copy';

/** Named after all that the data follow from. Those of the same size that follow from something else are removed, and so are unfinished ones. */
async function prepareDirectory(name: SizeName): Promise<string> {
  const prefix = `graph-query-service-bench-${name}-`;
  const directory = join(await realpath(tmpdir()), prefix + (await hashOfSources()));
  for (const entry of await readdir(dirname(directory))) {
    const found = join(dirname(directory), entry);
    if (!entry.startsWith(prefix) || (entry === basename(directory) && (await exists(join(found, builtFile)))))
      continue;
    const lock = await lockDataDirectory(found);
    if (lock) await removeTestDataDirectory(found);
    await lock?.release();
  }
  await createDataDirectory(directory);
  return directory;
}

async function hashOfSources(): Promise<string> {
  const committed = join(migrationsFolder, 'committed');
  const migrations = (await readdir(committed)).sort().map((file) => join(committed, file));
  const generator = ['keys.ts', 'sizes.ts', 'buildData.ts'].map((file) => join(import.meta.dirname, file));
  const hash = createHash('sha256');
  for (const file of [...migrations, ...generator]) hash.update(await readFile(file));
  return hash.digest('hex').slice(0, 16);
}

/** Some settings need a new start. */
async function configureServer(directory: string, settings: Size['serverSettings'], log: Log): Promise<void> {
  const { ownerUrl, stop } = await startMigrated(directory, log);
  const client = new Client({ connectionString: ownerUrl });
  try {
    await client.connect();
    for (const [name, value] of Object.entries(settings)) await client.query(`alter system set ${name} = '${value}'`);
  } finally {
    await client.end();
    await stop();
  }
}

async function copyDatabase(ownerUrl: string): Promise<void> {
  const client = new Client({ connectionString: named(ownerUrl, 'postgres') });
  await client.connect();
  try {
    const original = new URL(ownerUrl).pathname.slice(1);
    await client.query(`drop database if exists ${copyName} with (force)`);
    await client.query(`create database ${copyName} template ${original} strategy file_copy`);
  } finally {
    await client.end();
  }
}

function named(url: string, database: string): string {
  const renamed = new URL(url);
  renamed.pathname = `/${database}`;
  return renamed.href;
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
