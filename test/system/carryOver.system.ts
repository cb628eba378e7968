import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pool } from 'pg';
import { readDatabaseObjects } from '../../src/commands/development/databaseObjects.ts';
import { migrate } from '../../src/database/migrations/migrate.ts';
import { withClient } from '../../src/database/pool/transactions.ts';
import { createLog } from '../../src/log.ts';
import { audit } from '../audit/support.ts';
import { createCard, read } from '../graphql/support.ts';
import { createTestDataDirectory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import { startProcess } from '../support/process.ts';
import { testSecretKey } from '../support/service.ts';
import { addressOf } from '../support/workers.ts';
import { type CarriedWorld, expectServed, insertWorld } from './support/carriedWorld.ts';
import { type OlderPostgres, startOlderPostgres } from './support/olderPostgres.ts';
import { follow } from './support/operatingGuide.ts';
import { query } from './support/query.ts';
import { tableContents } from './support/tableContents.ts';

// By the commands of docs/upgrading.md, as an owner that is no superuser. A database of the present migrations stands for one of version
// 0.x, whose own data is a file: its tables and columns must all be there still.

let dataDir: string;
let postgres: OlderPostgres;
let old: string;
let world: CarriedWorld;
let head: string;
const log = createLog('error');

const urlOf = (database: string, user = 'owner') =>
  `postgres://${user}:of-the-test@127.0.0.1:${postgres.port}/${database}`;
const urlsOf = (ownerUrl: string) => ({ ownerUrl, authUrl: ownerUrl.replace('//owner:', '//authenticator:') });

async function createMigrated(name: string): Promise<string> {
  await query(urlOf('postgres', 'postgres'), `create database ${name} owner owner`);
  await migrate(urlsOf(urlOf(name)), log);
  return urlOf(name);
}

const carryOver = (target: string, environment: Record<string, string> = {}) =>
  follow('Version 0.x', '', { OLD_DATABASE_URL: old, DATABASE_URL: target, ...environment });

const ran = (hash: string) =>
  query(
    old,
    `update graphile_migrate.migrations set hash = '${hash}' where filename = (select max(filename) from graphile_migrate.migrations)`,
  );

beforeAll(async () => {
  dataDir = await createTestDataDirectory();
  postgres = await startOlderPostgres(dataDir, 'of-the-test');
  await query(urlOf('postgres', 'postgres'), `create role owner login createrole password 'of-the-test'`);
  old = await createMigrated('old');
  const owner = new Pool({ connectionString: old, max: 2 });
  world = await insertWorld(owner);
  await createCard(world.tenant, world.ada, { type: 'NfcCard', name: 'Badge', nfcIdentifier: '04A224B2C13A80' });
  // Version 0.x has no such table.
  await owner.query('truncate app_hidden.webhook_charge');
  await owner.end();
  head = (await audit({ ownerUrl: old }, 'seal')).stdout;
}, 120_000);

afterAll(async () => {
  await postgres.stop();
  await removeTestDataDirectory(dataDir);
});

test('a database that lacks migrations of 0.x is refused', async () => {
  await ran('sha1:a5e4dfde0f5a479eae2a0f25bef2d7d505f2d635');
  const target = await createMigrated('refusing');

  await expect(carryOver(target)).rejects.toThrow('is not the last one of version 0.x; nothing was changed');
  await expect(migrate(urlsOf(old), log)).rejects.toThrow('carry its data over as docs/upgrading.md says');

  expect(await query(target, 'select from app_hidden.organizations')).toEqual([]);
});

test('one that has run them all is carried over: every row, and nothing else differs', async () => {
  await ran('sha1:65f156dc99c6b016d0ec228c25baf5af04706450');
  const target = await createMigrated('carried');
  const empty = await withClient(target, readDatabaseObjects);

  await carryOver(target);

  const left =
    /^(graphile_|feed\.|audit\.(accepted|invariants|uses)$|app_public\.webhook_deliveries$|app_hidden\.webhook_charge$)/;
  const rowsOf = async (url: string) =>
    Object.fromEntries(Object.entries(await tableContents(url)).filter(([name]) => !left.test(name)));
  const carried = await rowsOf(target);
  expect(carried).toEqual(await rowsOf(old));
  expect(carried['app_public.users']).toMatch(/^1 rows/);
  expect(carried['oauth.access_tokens']).toMatch(/^3 rows/);
  expect(await query(target, 'select from feed.changes')).toEqual([]);
  // Row-level security is forced again, and no trigger is disabled.
  expect(await withClient(target, readDatabaseObjects)).toEqual(empty);

  await migrate(urlsOf(target), log);
  expect(await query(target, 'select * from audit.findings')).toEqual([]);
  expect((await audit({ ownerUrl: target }, 'verify', '--head', head)).code).toBe(0);
  await expect(carryOver(target)).rejects.toThrow('has organizations already; nothing was changed');
  expect(await rowsOf(target)).toEqual(carried);
}, 120_000);

test('the service serves from it, and the history goes on', async () => {
  const environment = {
    HOST: '127.0.0.1',
    PORT: '0',
    AUTH_DATABASE_URL: urlsOf(urlOf('carried')).authUrl,
    SECRET_KEY: testSecretKey,
  };
  const service = startProcess([], { PATH: process.env.PATH ?? '', ...environment });
  try {
    await service.says('Graph Query Service: http');
    await expectServed(addressOf(service), world);
    expect(
      await read({ url: addressOf(service) }, world.ada.token, '{ viewer { cardAssignments { card { name } } } }'),
    ).toEqual({
      viewer: { cardAssignments: [{ card: { name: 'Badge' } }] },
    });
  } finally {
    service.signal('SIGTERM');
    await service.exited;
  }
  const [entries] = await query<{ count: number; distinct: number }>(
    urlOf('carried'),
    'select count(*)::int as count, count(distinct id)::int as distinct from audit.changes',
  );
  expect(entries?.distinct).toBe(entries?.count);
}, 120_000);

test('the data of version 0.x itself is carried over, and its sealed history verifies', async () => {
  const target = await createMigrated('of_version_0');

  await carryOver(target, { PATH: fileURLToPath(new URL('support/version0', import.meta.url)) });

  expect(await query(target, 'select full_name, email from app_public.users order by email')).toEqual([
    { full_name: 'Ada L', email: 'ada@acme.test' },
    { full_name: 'Grace', email: 'g@acme.test' },
  ]);
  expect(
    await query(target, 'select nfc_identifier, major from app_public.cards order by type collate "C" desc'),
  ).toEqual([
    { nfc_identifier: '04A224B2C13A80', major: null },
    { nfc_identifier: null, major: 1 },
  ]);
  expect(await query(target, 'select count(*)::int as grants from app_hidden.unit_access')).toEqual([{ grants: 1 }]);
  await migrate(urlsOf(target), log);
  const sealed = '1-bc0838a7979417dbee27221217249e0f712a279fc93ba33b7dc5d3145ab3d5ee';
  expect((await audit({ ownerUrl: target }, 'verify', '--head', sealed)).code).toBe(0);
}, 120_000);

test.each([
  ['within the rows of a table', 3000],
  ['at its end', 1_000_000],
])(
  'a dump that fails %s changes nothing',
  async (_, bytes) => {
    const target = await createMigrated(`failing_${bytes}`);
    const folder = await createTestDataDirectory();
    const data = fileURLToPath(new URL('support/version0/data.sql', import.meta.url));
    await writeFile(join(folder, 'pg_dump'), `#!/bin/sh\nhead -c ${bytes} ${data}\nexit 1\n`, { mode: 0o755 });

    await expect(carryOver(target, { PATH: folder })).rejects.toThrow();

    await removeTestDataDirectory(folder);
    expect(await query(target, 'select from app_hidden.organizations')).toEqual([]);
    expect(await query(target, `select from pg_class where relname = 'users' and not relforcerowsecurity`)).toEqual([]);
  },
  120_000,
);

test('cards that version 1.0.0 does not allow are named before', async () => {
  const check = () => follow('What is no longer allowed', '', { OLD_DATABASE_URL: old });
  await check();

  // As version 0.x let them be.
  await query(
    old,
    `begin;
     do $$
     declare
       rule record;
     begin
       for rule in select conrelid::regclass as relation, conname from pg_constraint
         where conrelid in ('app_public.cards'::regclass, 'app_public.card_assignments'::regclass) and contype in ('u', 'x')
           and not exists (select from pg_constraint f where f.conindid = pg_constraint.conindid and f.contype = 'f') loop
         execute format('alter table %s drop constraint %I', rule.relation, rule.conname);
       end loop;
       for rule in select indexrelid::regclass as relation from pg_index
         where indrelid in ('app_public.cards'::regclass, 'app_public.card_assignments'::regclass) and indisunique and not indisprimary
           and not exists (select from pg_constraint where conindid = indexrelid) loop
         execute format('drop index %s', rule.relation);
       end loop;
     end
     $$;
     insert into app_public.cards (organization_id, type, name, nfc_identifier)
       select organization_id, type, 'Copy', nfc_identifier from app_public.cards where nfc_identifier is not null;
     insert into app_public.cards (organization_id, type, name, proximity_uuid, major, minor)
       select id, 'BeaconCard', 'Phone', 'f7826da6-4fa2-4e98-8024-bc5b71e0893e', 1, 1 from app_hidden.organizations, generate_series(1, 2);
     alter table app_public.card_assignments disable trigger user;
     with grace as (insert into app_public.users (organization_id, full_name, email) select id, 'Grace', 'grace@acme.test' from app_hidden.organizations returning *)
     insert into app_public.card_assignments (organization_id, user_id, card_id, is_exclusive, card_type) select g.organization_id, g.id, a.card_id, false, a.card_type from grace g, app_public.card_assignments a;
     commit`,
  );

  const failure = await check().catch((error: Error) => error.message);

  expect(failure).toMatch(/One NFC identifier of organization \S+: cards \S+, \S+\n/);
  expect(failure).toMatch(/One beacon of organization \S+: cards \S+, \S+\n/);
  expect(failure).toMatch(/Several holders of organization \S+: cards \S+\n/);
});
