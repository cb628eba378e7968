import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { promisify } from 'node:util';
import { startMigrated } from '../../src/database/openDatabase.ts';
import { withClient } from '../../src/database/pool/transactions.ts';
import type { Log } from '../../src/log.ts';
import { createTestDataDirectory, directoryInMemory, placeElsewhere } from './dataDirectory.ts';

/**
 * Makes a data directory with only a migrated database, as a stopped service leaves it. It copies the run's template, since `initdb` and
 * the migrations take seconds. It is for tests whose subject is not the first start, and in memory if there is room.
 */
export async function createMigratedDataDirectory(): Promise<string> {
  const template = process.env.TEST_DATA_DIR_TEMPLATE;
  if (!template) throw new Error('There is no template of a data directory: Jest has not called globalSetup.');
  const dataDir = await createTestDataDirectory(await directoryInMemory());
  await copyDataDirectory(template, dataDir);
  return dataDir;
}

/** Makes the template: migrates an embedded database in `dataDir`, and copies that while its server is stopped. */
export async function createTemplate(dataDir: string, log: Log): Promise<string> {
  const { stop, ownerUrl } = await startMigrated(dataDir, log);
  // As a first start finds it; else its copies would send no webhooks.
  await withClient(ownerUrl, (client) => client.query('update app_hidden.webhook_charge set directory = null'));
  await stop();
  const template = await createTestDataDirectory(await directoryInMemory());
  await copyDataDirectory(dataDir, template);
  process.env.TEST_DATA_DIR_TEMPLATE = template;
  return template;
}

/** Owners and modes stay, since PostgreSQL refuses a cluster of another user. */
async function copyDataDirectory(from: string, to: string): Promise<void> {
  await run('cp', ['-a', `${from}/.`, to]);
  const elsewhere = placeElsewhere(from);
  if (await exists(elsewhere)) await run('cp', ['-a', elsewhere, placeElsewhere(to)]);
}

const run = promisify(execFile);

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
