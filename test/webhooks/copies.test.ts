import { execFile } from 'node:child_process';
import { rename } from 'node:fs/promises';
import { promisify } from 'node:util';
import { startMigrated } from '../../src/database/openDatabase.ts';
import { withClient } from '../../src/database/pool/transactions.ts';
import { createLog } from '../../src/log.ts';
import { copyNotice } from '../../src/webhooks/startWebhooks.ts';
import { mutating } from '../graphql/mutating.ts';
import { createTenant, createUser } from '../graphql/support.ts';
import { asAdministrator, createTestDatabase, openTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestDataDirectory, directoryInMemory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import { createMigratedDataDirectory } from '../support/migratedDataDirectory.ts';
import { startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { startReceiver } from './receiver.ts';

// What nobody has told from its original has the original's webhooks, and must not send to their receivers.

const sending = { WEBHOOK_WORKER: 'true', WEBHOOK_PRIVATE_ADDRESSES: 'true' };

describe("a template's copy", () => {
  let database: TestDatabase;
  let copy: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await copy.drop();
    await database.drop();
  });

  test('sends nothing and says so until it takes charge; the original goes on', async () => {
    const first = await startTestService(database, sending);
    const tenant = await createTenant({ database });
    const receiver = await startReceiver();
    await mutating({ ...first, database }, tenant)('webhookCreate', { url: receiver.url }, 'secret');
    await createUser(tenant);
    await receiver.first(1);
    await first.stop();
    copy = await copyOf(database);
    const service = await startTestService(copy, { ...sending, METRICS_PORT: '0' });
    const there = { ...tenant, owner: copy.owner };
    await createUser(there);

    const isCopy = () => service.logs.some((line) => line.includes(copyNotice));
    await until(async () => isCopy());
    expect(await readyzOf(service.url)).toEqual({ status: 'ready', notice: copyNotice });
    expect(await sentBy(service)).toBe('0');
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(receiver.received).toHaveLength(1);

    const { rows } = await copy.owner.query(
      'select app_hidden.take_webhook_charge() as first, app_hidden.take_webhook_charge() as again',
    );
    expect(rows).toEqual([{ first: true, again: false }]);
    await receiver.first(2);
    await until(async () => (await sentBy(service)) === '1');
    expect(await readyzOf(service.url)).toEqual({ status: 'ready' });
    await service.stop();

    const second = await startTestService(database, sending);
    await createUser(tenant);
    await receiver.first(3);
    await second.stop();
    await receiver.stop();
  });
});

describe('an embedded database', () => {
  let directories: string[];
  beforeEach(async () => {
    directories = [await createMigratedDataDirectory()];
  });
  afterEach(async () => {
    for (const directory of directories) await removeTestDataDirectory(directory);
  });

  test('that was copied has no charge, also when it starts again; one that was moved has', async () => {
    const [original = ''] = directories;
    expect(await startsWithCharge(original)).toBe(true);
    expect(await startsWithCharge(original)).toBe(true);

    const copied = await createTestDataDirectory(await directoryInMemory());
    const moved = `${original}-moved`;
    directories.push(copied, moved);
    await run('cp', ['-a', `${original}/.`, copied]);
    await rename(original, moved);

    expect(await startsWithCharge(copied)).toBe(false);
    expect(await startsWithCharge(copied)).toBe(false);
    expect(await startsWithCharge(moved)).toBe(true);
    expect(await startsWithCharge(copied, 'select app_hidden.take_webhook_charge()')).toBe(true);
    expect(await startsWithCharge(copied)).toBe(true);
  });
});

/** Without `createTestDatabase`, which takes charge. Connections to the original are ended, since a template has none. */
async function copyOf(original: TestDatabase): Promise<TestDatabase> {
  const { pathname } = new URL(original.ownerUrl);
  const [name, copy] = [pathname.slice(1), pathname.slice(1).replace('test_', 'copy_')];
  await asAdministrator(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`);
  await asAdministrator(`create database ${copy} template ${name}`);
  return openTestDatabase(copy);
}

async function startsWithCharge(dataDir: string, first = 'select'): Promise<boolean> {
  const { ownerUrl, stop } = await startMigrated(dataDir, createLog('warn'));
  try {
    return await withClient(ownerUrl, async (client) => {
      await client.query(first);
      return (await client.query('select app_hidden.has_webhook_charge() as it')).rows[0].it;
    });
  } finally {
    await stop();
  }
}

const readyzOf = async (url: string) => (await fetch(`${url}/readyz`)).json();
const sentBy = async ({ metricsPort }: { metricsPort: number | null }) =>
  /^graph_webhooks_sent\{.*\} (\d)$/m.exec(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text())?.[1];
const run = promisify(execFile);
