import { Pool } from 'pg';
import { type Copy, createCopy } from '../development/createCopy.ts';
import { fleet, renames } from '../generation/fleet.ts';
import {
  addRows,
  type FleetTable,
  type FleetWorld,
  fleetTables,
  mutate,
  renamed,
  storedRows,
} from '../generation/fleetRows.ts';
import { createUnit, createUser, read } from '../graphql/support.ts';
import { createTestDataDirectory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import { createMigratedDataDirectory } from '../support/migratedDataDirectory.ts';
import { startProcess, type TestProcess } from '../support/process.ts';
import { testSecretKey } from '../support/service.ts';
import { addressOf } from '../support/workers.ts';
import { type OlderPostgres, startOlderPostgres } from './support/olderPostgres.ts';
import { follow } from './support/operatingGuide.ts';
import { query } from './support/query.ts';
import { tableContents } from './support/tableContents.ts';
import { createTenantWithSecret } from './support/tenant.ts';

// The fleet of another team on its way: committed, run by an owner without superuser, dumped, and restored in another cluster.

const tables = fleetTables.map(renamed);
let copy: Copy;
let folder: string;
let source: Cluster;
let target: Cluster;
const clusters: Cluster[] = [];
let service: TestProcess | null = null;
let world: FleetWorld;
let answers: unknown;

beforeAll(async () => {
  [copy, folder] = [await createCopy(createMigratedDataDirectory), await createTestDataDirectory()];
});
afterAll(async () => {
  await stopService();
  await world?.owner.end();
  for (const { postgres, dataDir } of clusters) {
    await postgres.stop();
    await removeTestDataDirectory(dataDir);
  }
  await removeTestDataDirectory(folder);
  await copy.remove();
});

test('npm run dev takes it on each save, and db:commit makes two migrations of it', async () => {
  const server = copy.start(['dev']);
  await server.says('Save migrations/current.sql');
  for (const [message, sql, shown] of [
    ['add a fleet', fleet, "Type 'Vehicle' was added"],
    ['rename columns', renames, "Field 'permitNo' was added"],
  ] as const) {
    await copy.save(sql);
    await server.says(shown);
    expect(await copy.run(['commit', message])).toMatchObject({
      code: 0,
      output: expect.not.stringContaining('error:'),
    });
  }
  server.signal('SIGTERM');
  await server.exited;

  expect(await copy.run(['schema'])).toMatchObject({ code: 0 });
  expect(await copy.run(['status'])).toEqual({ code: 0, output: 'Migrations, database and golden files agree.\n' });
}, 300_000);

test('an owner without superuser migrates, and mutations write what is stored', async () => {
  source = await startCluster();
  expect(await copy.run(['migrate'], environmentOf(source))).toMatchObject({ code: 0 });
  const owner = new Pool({ connectionString: source.ownerUrl, max: 2 });
  const tenant = await createTenantWithSecret(owner);
  const [unit, user] = [await createUnit(tenant, { name: 'Depot' }), await createUser(tenant)];
  const { organizationId, app } = tenant;
  world = { url: await serve(source), owner, organizationId, app, ids: { Unit: [unit.id], User: [user.id] }, keys: {} };

  for (const table of tables) {
    const given: FleetTable['given'] = (id) =>
      table.given(id).map(({ color, ...rest }) => (color ? { ...rest, zone: color } : rest));
    await addRows(world, { ...table, given });
  }
  await owner.query('refresh materialized view app_hidden.vehicle_energies');
  answers = await readAll();
  expect(JSON.stringify(answers)).toContain('HH-A 22E');
  expect(await query(source.ownerUrl, 'select * from audit.findings')).toEqual([]);
}, 300_000);

test('a dump of it, restored elsewhere, has every row, and the graph the same answers', async () => {
  const energies = 'select * from app_hidden.vehicle_energies order by plate';
  const [before, energiesBefore] = [await tableContents(source.ownerUrl), await query(source.ownerUrl, energies)];
  await follow('Backup', folder, environmentOf(source), 'upgrading', copy.root);
  await stopService();

  target = await startCluster();
  await follow('Restore', folder, environmentOf(target), 'upgrading', copy.root);

  const { 'audit.uses': uses, ...restored } = await tableContents(target.ownerUrl);
  expect(uses).toMatch(/^[1-9]/);
  expect({ ...restored, 'audit.uses': before['audit.uses'] }).toEqual(before);
  expect(energiesBefore).toHaveLength(2);
  expect(await query(target.ownerUrl, energies)).toEqual(energiesBefore);
  expect(await query(target.ownerUrl, 'select * from audit.findings')).toEqual([]);
  await world.owner.end();
  world = { ...world, owner: new Pool({ connectionString: target.ownerUrl, max: 2 }), url: await serve(target) };
  expect(await readAll()).toEqual(answers);
}, 300_000);

test('there it goes on: a mutation writes, and the history has its key', async () => {
  const [, vehicleId] = world.ids.Vehicle ?? [];

  expect(await mutate(world, renamed(tableOf('permits')), { number: 4000, vehicleId, zone: 'C' })).toMatchObject({
    permitNo: 4000,
    zone: 'C',
  });

  const last = `select row_id::text as row, command from audit.changes where relation = 'app_public.permits' order by id desc limit 1`;
  expect(await query(target.ownerUrl, last)).toEqual([{ row: '4000', command: 'insert' }]);
  expect((await storedRows(world, renamed(tableOf('permits')))).map(({ key }) => key)).toContain('4000');
  expect(await copy.run(['migrate'], environmentOf(target))).toMatchObject({ code: 0 });
});

const tableOf = (name: string) => {
  const found = fleetTables.find(({ table }) => table === name);
  if (!found) throw new Error(`There is no table ${name}`);
  return found;
};

const readAll = () =>
  read(
    world,
    world.app,
    `{ app { ${tables.map(({ table, selection }) => `${table} { totalCount nodes { id ${selection} } }`).join('\n')} } }`,
  );

type Cluster = {
  readonly dataDir: string;
  readonly postgres: OlderPostgres;
  readonly ownerUrl: string;
  readonly authUrl: string;
};

/** PostgreSQL 15, with an owner who is no superuser, and an empty database. */
async function startCluster(): Promise<Cluster> {
  const dataDir = await createTestDataDirectory();
  const postgres = await startOlderPostgres(dataDir, 'of-the-test');
  const urlOf = (user: string, database = 'graph') =>
    `postgres://${user}:of-the-test@127.0.0.1:${postgres.port}/${database}`;
  const cluster = { dataDir, postgres, ownerUrl: urlOf('owner'), authUrl: urlOf('authenticator') };
  clusters.push(cluster);
  await query(urlOf('postgres', 'postgres'), `create role owner login createrole password 'of-the-test'`);
  await query(urlOf('postgres', 'postgres'), 'create database graph owner owner');
  return cluster;
}

const environmentOf = ({ ownerUrl, authUrl }: Cluster) => ({
  DATABASE_URL: ownerUrl,
  AUTH_DATABASE_URL: authUrl,
  SECRET_KEY: testSecretKey,
});

async function serve({ authUrl }: Cluster): Promise<string> {
  const environment = { HOST: '127.0.0.1', PORT: '0', AUTH_DATABASE_URL: authUrl, SECRET_KEY: testSecretKey };
  service = startProcess([], { PATH: process.env.PATH ?? '', ...environment }, copy.root);
  await service.says('Graph Query Service: http');
  return addressOf(service);
}

async function stopService(): Promise<void> {
  service?.signal('SIGTERM');
  await service?.exited;
  service = null;
}
