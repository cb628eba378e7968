import { randomUUID } from 'node:crypto';
import { reset } from '../../src/commands/development/reset.ts';
import { loadConfig } from '../../src/config.ts';
import { migrate } from '../../src/database/migrations/migrate.ts';
import { createLog } from '../../src/log.ts';
import { asAdministrator } from '../support/database.ts';
import { withLogin } from '../support/logins.ts';

// On a database of one's own; on the embedded one beside `npm run dev`: undoing.system.ts.

const log = createLog('silent');
const suffix = randomUUID().slice(0, 8);
const name = `own_${suffix}`;
const urlOf = (username: string) =>
  Object.assign(new URL(process.env.TEST_OWNER_URL ?? ''), { username, pathname: `/${name}` }).href;
const ownerUrl = Object.assign(new URL(process.env.TEST_OWNER_URL ?? ''), { pathname: `/${name}` }).href;
const urls = { ownerUrl, authUrl: urlOf(`login_${suffix}`) };
const config = loadConfig({ DATABASE_URL: urls.ownerUrl, AUTH_DATABASE_URL: urls.authUrl }, 'migrate');

beforeAll(async () => {
  await asAdministrator(`create database ${name} template template0`);
  await migrate(urls, log);
  await withLogin(ownerUrl, (owner) => owner.query('create table public.kept ()'));
});
afterAll(async () => {
  await asAdministrator(`drop database ${name}`);
  await asAdministrator(`drop role login_${suffix}`);
});

test('it must be named', async () => {
  await expect(reset(config, {}, log)).rejects.toThrow(`npm run db:reset -- --erase ${name}`);
  await expect(reset(config, { erase: 'another' }, log)).rejects.toThrow('This drops the database');
  expect(await isKept()).toBe(true);
});

test('it stays while there are sessions in it, and goes when there are none', async () => {
  await withLogin(ownerUrl, () =>
    expect(reset(config, { erase: name }, log)).rejects.toThrow('Another session uses the database'),
  );
  expect(await isKept()).toBe(true);
  expect(await databases()).toEqual([name]);

  await reset(config, { erase: name }, log);

  expect(await isKept()).toBe(false);
  expect(await databases()).toEqual([name]);
  await withLogin(urls.authUrl, (server) => server.query('set role graph_app; select from app_public.users'));
});

const isKept = () =>
  withLogin(
    ownerUrl,
    async (owner) => (await owner.query(`select from pg_class where relname = 'kept'`)).rowCount === 1,
  );

const databases = () =>
  withLogin(ownerUrl, async (owner) => {
    const { rows } = await owner.query<{ name: string }>(
      `select datname::text as name from pg_database where datname ~ '^${name}' order by 1`,
    );
    return rows.map(({ name }) => name);
  });
