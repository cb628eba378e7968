/**
 * From the embedded database to one's own, by the three commands of docs/outgrowing-one-machine.md. The database that is left is of
 * PostgreSQL 15, since Debian has the clients of that version alone, and clients are to be as new as their server.
 */
import { Pool } from 'pg';
import { migrate } from '../../src/database/migrations/migrate.ts';
import { createLog } from '../../src/log.ts';
import { createTestDataDirectory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import { testSecretKey } from '../support/service.ts';
import { startServer } from '../support/startServer.ts';
import { addressOf } from '../support/workers.ts';
import { expectServed, insertWorld } from './support/carriedWorld.ts';
import { startOlderPostgres } from './support/olderPostgres.ts';
import { follow } from './support/operatingGuide.ts';
import { binariesOf } from './support/postgresMajors.ts';
import { query } from './support/query.ts';
import { tableContents } from './support/tableContents.ts';

const password = 'of-the-test';
const resources = new AsyncDisposableStack();
afterAll(() => resources.disposeAsync());

/** A cluster with an empty database. @returns the URL of a role there */
async function startCluster(major: 15 | 18, database: string): Promise<(user: string) => string> {
  const dataDir = await createTestDataDirectory();
  resources.defer(() => removeTestDataDirectory(dataDir));
  const binaries = major === 18 ? await binariesOf(major, dataDir) : undefined;
  const postgres = await startOlderPostgres(dataDir, password, binaries);
  resources.defer(postgres.stop);
  const urlOf = (user: string, name = database) => `postgres://${user}:${password}@127.0.0.1:${postgres.port}/${name}`;
  await query(urlOf('postgres', 'postgres'), `create database ${database}`);
  return urlOf;
}

test("three commands bring the embedded database's contents to a PostgreSQL of one's own, which serves as before", async () => {
  const old = await startCluster(15, 'graph_query_service');
  // As the embedded database has them: two login roles.
  const logins = { authUrl: old('graph_authenticator'), oauthUrl: old('graph_oauth_authenticator') };
  await migrate({ ownerUrl: old('postgres'), ...logins }, createLog('error'));
  const owner = new Pool({ connectionString: old('postgres'), max: 2 });
  const world = await insertWorld(owner);
  await owner.end();
  const before = await tableContents(old('postgres'));
  const own = await startCluster(18, 'graph');
  // The login roles get other passwords than they had.
  const [AUTH_DATABASE_URL, OAUTH_DATABASE_URL] = ['graph_authenticator', 'graph_oauth_authenticator'].map((role) =>
    own(role).replace(password, 'of-my-own'),
  ) as [string, string];

  const environment = { AUTH_DATABASE_URL, OAUTH_DATABASE_URL, SECRET_KEY: testSecretKey };
  const urls = { OLD_DATABASE_URL: old('postgres'), DATABASE_URL: own('postgres') };
  const folder = await createTestDataDirectory();
  resources.defer(() => removeTestDataDirectory(folder));
  await follow('From the embedded database', folder, { ...urls, ...environment }, 'outgrowing-one-machine');

  expect(await tableContents(own('postgres'))).toEqual(before);
  expect(before['app_public.users']).toMatch(/^1 rows/);
  const service = await startServer(environment);
  resources.defer(async () => {
    service.signal('SIGTERM');
    await service.exited;
  });
  await expectServed(addressOf(service), world);
  expect(await query(own('postgres'), 'select * from audit.findings')).toEqual([]);
  const bypasses = 'select * from audit.bypasses order by kind, object, who';
  expect(await query(own('postgres'), bypasses)).toEqual(await query(old('postgres'), bypasses));
}, 300_000);
