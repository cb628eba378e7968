import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { Pool } from 'pg';
import { readDatabaseObjects } from '../../src/commands/development/databaseObjects.ts';
import { migrate } from '../../src/database/migrations/migrate.ts';
import { withClient } from '../../src/database/pool/transactions.ts';
import { createLog } from '../../src/log.ts';
import { audit } from '../audit/support.ts';
import { ask } from '../graphql/client.ts';
import { createTestDataDirectory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import { startProcess, type TestProcess } from '../support/process.ts';
import { testSecretKey } from '../support/service.ts';
import { addressOf } from '../support/workers.ts';
import { type CarriedWorld, expectServed, insertWorld } from './support/carriedWorld.ts';
import { type OlderPostgres, startOlderPostgres } from './support/olderPostgres.ts';
import { follow } from './support/operatingGuide.ts';
import { query } from './support/query.ts';
import { tableContents } from './support/tableContents.ts';

// By the commands of docs/upgrading.md, from one cluster to another that has never seen a role of the service. The owner is no
// superuser.

let folder: string;
let source: Cluster;
let target: Cluster;
const clusters: Cluster[] = [];
let service: TestProcess | null = null;
let world: CarriedWorld;
let refreshToken: string;
let before: Record<string, string>;
let head: string;

beforeAll(async () => {
  folder = await createTestDataDirectory();
  source = await startCluster();
  await migrate(source, createLog('error'));
  const owner = new Pool({ connectionString: source.ownerUrl, max: 2 });
  world = await insertWorld(owner);
  // A team's own, over tables with policies, and one that is not filled.
  await owner.query(`
    create materialized view app_hidden.people as select organization_id, count(*) as people from app_public.users group by 1;
    create unique index on app_hidden.people (organization_id);
    create materialized view app_hidden.accessible as
      select a.user_id, u.name from app_hidden.unit_access a join app_public.units u on u.id = a.unit_id join app_hidden.people p on p.organization_id = a.organization_id;
    create materialized view app_hidden.later as select id from app_public.cards with no data;
    insert into audit.accepted select kind, object, who, 'For a test.' from audit.bypasses where kind = 'materialized view'`);
  await owner.end();
  const url = await serve(source);
  refreshToken = await requestToken(url, { grant_type: 'client_credentials', scope: 'app' });
  await expectServed(url, world);
}, 60_000);

afterAll(async () => {
  await stopService();
  for (const { postgres, dataDir } of clusters) {
    await postgres.stop();
    await removeTestDataDirectory(dataDir);
  }
  await removeTestDataDirectory(folder);
});

test('a dump of the running service, restored elsewhere, has every row of every table', async () => {
  head = (await audit(source, 'seal')).stdout;
  before = await tableContents(source.ownerUrl);
  await follow('Backup', folder, environmentOf(source));
  await stopService();

  target = await startCluster();
  await follow('Restore', folder, environmentOf(target));

  // The service has gone on recording what its requests use.
  const { 'audit.uses': uses, ...restored } = await tableContents(target.ownerUrl);
  expect({ ...restored, 'audit.uses': before['audit.uses'] }).toEqual(before);
  expect(uses).toMatch(/^[1-9]\d* rows/);
  expect(before['app_public.users']).toMatch(/^2 rows/);
  expect(before['oauth.access_tokens']).toMatch(/^4 rows/);
}, 60_000);

test('materialized views over tables with policies are filled', async () => {
  const filled = `select organization_id, people::int, name from app_hidden.people, app_hidden.accessible`;

  expect(await query(target.ownerUrl, filled)).toEqual([
    { organization_id: world.tenant.organizationId, people: 2, name: 'Headquarters' },
  ]);
  expect(
    await query(target.ownerUrl, `select relname from pg_class where relkind = 'm' and not relispopulated`),
  ).toEqual([{ relname: 'later' }]);
});

test('whoever may do something there may do the same, and nothing is to be migrated', async () => {
  const { count } = await migrationsOf(target);
  await migrate(target, createLog('error'));

  const [restored, dumped] = await Promise.all(
    [target, source].map(({ ownerUrl }) => withClient(ownerUrl, readDatabaseObjects)),
  );
  expect(restored).toEqual(dumped);
  const bypasses = 'select * from audit.bypasses order by kind, object, who';
  expect(await query(target.ownerUrl, bypasses)).toEqual(await query(source.ownerUrl, bypasses));
  expect(await query(target.ownerUrl, 'select * from audit.findings')).toEqual([]);
  expect(await migrationsOf(target)).toEqual({ count });
});

test('the service serves from it: the same tokens, the same rows, and changes', async () => {
  const url = await serve(target);

  await expectServed(url, world);
  const next = await requestToken(url, { grant_type: 'refresh_token', refresh_token: refreshToken });
  expect(next).not.toBe(refreshToken);
});

test('the history goes on', async () => {
  const changes = await query<{ count: number; distinct: number }>(
    target.ownerUrl,
    'select count(*)::int as count, count(distinct id)::int as distinct from audit.changes',
  );

  expect(changes[0]?.distinct).toBe(changes[0]?.count);
  expect(changes[0]?.count).toBeGreaterThan(Number.parseInt(before['audit.changes'] ?? '', 10));
});

test('the history is as it was sealed, and is found when its owner has changed it', async () => {
  const verify = async () => (await audit(target, 'verify', '--head', head)).code;
  expect(await verify()).toBe(0);

  await query(
    target.ownerUrl,
    `begin; alter table audit.changes no force row level security;
     update audit.changes set login = 'somebody' where id = (select min(id) from audit.changes);
     alter table audit.changes force row level security; commit`,
  );

  expect(await verify()).toBe(1);
});

test('a copy of the cluster serves as it is', async () => {
  await stopService();
  const dataDir = await createTestDataDirectory();
  const replicationUrl = `postgres://postgres:of-the-test@127.0.0.1:${source.postgres.port}/postgres`;
  await follow('Backup of the cluster', dataDir, { REPLICATION_URL: replicationUrl });
  await rename(join(dataDir, 'data-backup'), join(dataDir, 'postgres'));
  const copy = await runCluster(dataDir);

  const url = await serve(copy);

  await expectServed(url, world);
}, 60_000);

test("psql reads the owner's password from a file", async () => {
  await follow("The owner's password", folder, environmentOf(target), 'operating');

  expect(await readFile(join(folder, 'owner-pgpass'), 'utf8')).toMatch(/^\*:\*:\*:[^:]+:[^:]+\n$/);
});

test('every token can be ended', async () => {
  await stopService();
  await serve(target);

  await follow('End every token', folder, environmentOf(target));

  expect((await ask({ url: addressOf(running()) }, world.tenant.app, '{ app { name } }')).status).toBe(401);
  expect((await ask({ url: addressOf(running()) }, world.ada.token, '{ viewer { id } }')).status).toBe(401);
});

const migrationsOf = async ({ ownerUrl }: Cluster) =>
  (await query<{ count: string }>(ownerUrl, 'select count(*) from graphile_migrate.migrations'))[0] ?? { count: '0' };

type Cluster = {
  readonly dataDir: string;
  readonly postgres: OlderPostgres;
  readonly ownerUrl: string;
  readonly authUrl: string;
};

/** With an owner and an empty database, as the README has it. */
async function startCluster(): Promise<Cluster> {
  const cluster = await runCluster(await createTestDataDirectory());
  const administrator = `postgres://postgres:of-the-test@127.0.0.1:${cluster.postgres.port}/postgres`;
  await query(administrator, `create role owner login createrole password 'of-the-test'`);
  await query(administrator, 'create database graph owner owner');
  return cluster;
}

async function runCluster(dataDir: string): Promise<Cluster> {
  const postgres = await startOlderPostgres(dataDir, 'of-the-test');
  const urlOf = (user: string) => `postgres://${user}:of-the-test@127.0.0.1:${postgres.port}/graph`;
  const cluster = { dataDir, postgres, ownerUrl: urlOf('owner'), authUrl: urlOf('authenticator') };
  clusters.push(cluster);
  return cluster;
}

const environmentOf = ({ ownerUrl, authUrl }: Cluster) => ({
  DATABASE_URL: ownerUrl,
  AUTH_DATABASE_URL: authUrl,
  SECRET_KEY: testSecretKey,
});

async function serve({ authUrl }: Cluster): Promise<string> {
  const environment = { HOST: '127.0.0.1', PORT: '0', AUTH_DATABASE_URL: authUrl, SECRET_KEY: testSecretKey };
  service = startProcess([], { PATH: process.env.PATH ?? '', ...environment });
  await service.says('Graph Query Service: http');
  return addressOf(service);
}

async function stopService(): Promise<void> {
  service?.signal('SIGTERM');
  await service?.exited;
  service = null;
}

function running(): TestProcess {
  if (!service) throw new Error('The service does not run.');
  return service;
}

/** @returns the refresh token of the reply */
async function requestToken(url: string, parameters: Record<string, string>): Promise<string> {
  const client = { client_id: `client-${world.tenant.applicationId}`, client_secret: world.tenant.secret };
  const response = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...client, ...parameters }),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { refresh_token: string }).refresh_token;
}
