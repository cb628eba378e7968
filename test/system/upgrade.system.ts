import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Pool } from 'pg';
import { findEmbeddedPostgres } from '../../src/database/embedded/embedded.ts';
import { migrate } from '../../src/database/migrations/migrate.ts';
import { createLog } from '../../src/log.ts';
import { createTestDataDirectory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import { startProcess, type TestProcess } from '../support/process.ts';
import { testSecretKey } from '../support/service.ts';
import { addressOf } from '../support/workers.ts';
import { type CarriedWorld, expectServed, insertWorld } from './support/carriedWorld.ts';
import { startOlderPostgres } from './support/olderPostgres.ts';
import { follow } from './support/operatingGuide.ts';
import { query } from './support/query.ts';
import { tableContents } from './support/tableContents.ts';

// By the commands of docs/upgrading.md. A version of the service that brings PostgreSQL 15 there never was: its data directory is
// made here, as the service makes it.

const ownerPassword = 'of-the-owner';

let folder: string;
let dataDir: string;
let service: TestProcess | null = null;
let world: CarriedWorld;
let before: Record<string, string>;

beforeAll(async () => {
  folder = await createTestDataDirectory();
  dataDir = await createTestDataDirectory();
  const older = await startOlderPostgres(dataDir, ownerPassword);
  const authenticatorPassword = 'of-the-authenticator';
  const access = { port: older.port, ownerPassword, authenticatorPassword };
  await writeFile(join(dataDir, 'postgres.json'), JSON.stringify(access), { mode: 0o600 });
  const at = `127.0.0.1:${older.port}`;
  await query(`postgres://postgres:${ownerPassword}@${at}/postgres`, 'create database graph_query_service');
  const ownerUrl = `postgres://postgres:${ownerPassword}@${at}/graph_query_service`;
  const authUrl = `postgres://graph_authenticator:${authenticatorPassword}@${at}/graph_query_service`;
  await migrate({ ownerUrl, authUrl }, createLog('error'));
  const owner = new Pool({ connectionString: ownerUrl, max: 2 });
  world = await insertWorld(owner);
  await owner.end();

  before = await tableContents(ownerUrl);
  await follow('Backup', folder, { DATABASE_URL: ownerUrl, SECRET_KEY: testSecretKey });
  await older.stop();
}, 60_000);

afterAll(async () => {
  await stop();
  await removeTestDataDirectory(dataDir);
  await removeTestDataDirectory(copy());
  await removeTestDataDirectory(folder);
});

test('the service refuses files of another major version, says what to do, and leaves them alone', async () => {
  const refused = startProcess([], environment());

  expect(await refused.exited).toEqual({ code: 1, signal: null });
  expect(refused.output.stdout).toBe('');
  expect(refused.output.stderr).toMatch(
    /postgres was made by PostgreSQL 15; this version of the service brings PostgreSQL 18\. Nothing was changed\. Go back .*docs\/upgrading\.md/,
  );
  expect(await versionIn('postgres')).toBe('15');
});

test('brought along as the guide says, it has every row, and serves as before', async () => {
  await follow('A new major version', folder, environment());
  await start();
  await follow('Restore', folder, environment());
  expect(await tableContents(await ownerUrl())).toEqual(before);

  await stop();
  await start();

  await expectServed(addressOf(running()), world);
  expect(await query(await ownerUrl(), 'select * from audit.findings')).toEqual([]);
  expect([await versionIn('postgres'), await versionIn('postgres-before')]).toEqual(['18', '15']);
}, 60_000);

test('a copy of the files serves, too', async () => {
  await stop();
  await follow('The embedded database', folder, environment());

  await start({ DATA_DIR: copy() });

  await expectServed(addressOf(running()), world);
}, 60_000);

/** Where the guide's copy goes in this test. */
const copy = () => join(folder, 'data-backup');

const environment = () => ({ PATH: process.env.PATH ?? '', DATA_DIR: dataDir, PORT: '0', SECRET_KEY: testSecretKey });

async function start(more: Record<string, string> = {}): Promise<void> {
  service = startProcess([], { ...environment(), ...more });
  await service.says('curl ');
}

async function stop(): Promise<void> {
  service?.signal('SIGTERM');
  await service?.exited;
  service = null;
}

function running(): TestProcess {
  if (!service) throw new Error('The service does not run.');
  return service;
}

async function ownerUrl(): Promise<string> {
  const urls = await findEmbeddedPostgres(dataDir, createLog('error'));
  if (!urls) throw new Error('The embedded database does not run.');
  return urls.ownerUrl;
}

const versionIn = async (cluster: string) => (await readFile(join(dataDir, cluster, 'PG_VERSION'), 'utf8')).trim();
