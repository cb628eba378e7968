import { randomUUID } from 'node:crypto';
import { escapeIdentifier } from 'pg';
import { createHelper, dropHelper, helperUrlOf } from '../../src/commands/development/helperDatabase.ts';
import { databaseName, otherDatabase } from '../../src/commands/development/migrations.ts';
import { reset } from '../../src/commands/development/reset.ts';
import { withShadow } from '../../src/commands/development/shadow.ts';
import { loadConfig } from '../../src/config.ts';
import { withClient } from '../../src/database/pool/transactions.ts';
import { createLog } from '../../src/log.ts';
import { asAdministrator } from '../support/database.ts';

const unique = randomUUID().slice(0, 8);
const bytes = (text: string, length: number) => text.padEnd(length - Buffer.byteLength(text) + text.length, 'x');

const names = [
  ['59 bytes', bytes(`own_${unique}_`, 59)],
  ['60 bytes', bytes(`own_${unique}_`, 60)],
  ['63 bytes', bytes(`own_${unique}_`, 63)],
  ['63 bytes that are not ASCII', bytes(`${unique}ä¢`, 63)],
  ['quotes', `a"b'c ${unique}`],
  ['upper case, a space and a percent sign', `Own %41 ${unique}`],
] as const;

const urlOf = (name: string) => otherDatabase(process.env.TEST_OWNER_URL ?? '', name);

const rowsOf = (name: string) =>
  withClient(urlOf(name), async (client) => (await client.query('select note from public.notes')).rows);

async function create(name: string): Promise<void> {
  await asAdministrator(`create database ${escapeIdentifier(name)} template template0`);
  await withClient(urlOf(name), (client) => client.query("create table public.notes as select 'kept' as note"));
}

const drop = (name: string) => asAdministrator(`drop database if exists ${escapeIdentifier(name)}`);

test.each(names)('a database whose name has %s outlives its helper, and so do its neighbours', async (_, name) => {
  const neighbours = [`${name}_shadow`, `${name}_new`].filter((each) => Buffer.byteLength(each) <= 63);
  try {
    await create(name);
    for (const neighbour of neighbours) await create(neighbour);
    const helper = helperUrlOf(urlOf(name), 'shadow');

    await createHelper(urlOf(name), helper);
    const { rows } = await withClient(helper, (client) => client.query('select current_database() as used'));
    await dropHelper(urlOf(name), helper);

    expect(rows).toEqual([{ used: expect.stringMatching(/^gqs_shadow_[0-9a-f]{16}$/) }]);
    for (const each of [name, ...neighbours]) expect(await rowsOf(each)).toEqual([{ note: 'kept' }]);
  } finally {
    for (const each of [name, ...neighbours]) await drop(each);
  }
});

test('the shadow, which has the migrations, is such a helper', async () => {
  const name = `Own %41 "${unique}" shadowed`;
  try {
    await create(name);

    const shadow = await withShadow(urlOf(name), async ({ url }) => {
      const { rows } = await withClient(url, (client) =>
        client.query("select to_regclass('app_public.units') as units"),
      );
      return { name: databaseName(url), rows };
    });

    expect(shadow).toEqual({
      name: databaseName(helperUrlOf(urlOf(name), 'shadow')),
      rows: [{ units: 'app_public.units' }],
    });
    await expect(rowsOf(shadow.name)).rejects.toMatchObject({ code: '3D000' });
    expect(await rowsOf(name)).toEqual([{ note: 'kept' }]);
  } finally {
    await drop(name);
  }
});

test('a helper that was left over is made anew; what has no mark is left alone, and named', async () => {
  const name = `own_${unique}`;
  await create(name);
  const ownerUrl = urlOf(name);
  const helper = helperUrlOf(ownerUrl, 'draft');
  try {
    await createHelper(ownerUrl, helper);
    await createHelper(ownerUrl, helper);
    await dropHelper(ownerUrl, helper);

    // As a command leaves it that is killed between two statements.
    await asAdministrator(`create database ${escapeIdentifier(databaseName(helper))}`);
    await createHelper(ownerUrl, helper);
    await dropHelper(ownerUrl, helper);

    await create(databaseName(helper));
    const config = loadConfig(
      { DATABASE_URL: ownerUrl, AUTH_DATABASE_URL: otherDatabase(process.env.TEST_AUTH_URL ?? '', name) },
      'migrate',
    );
    await expect(reset(config, { erase: name }, createLog('silent'))).rejects.toThrow(
      /^The database "gqs_draft_[0-9a-f]{16}" has no mark of this service, and is left alone\. Rename it, or drop it/,
    );
    expect(await rowsOf(databaseName(helper))).toEqual([{ note: 'kept' }]);
    expect(await rowsOf(name)).toEqual([{ note: 'kept' }]);
  } finally {
    await drop(databaseName(helper));
    await drop(name);
  }
});
