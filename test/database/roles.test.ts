import { readFile } from 'node:fs/promises';
import { migrate } from '../../src/database/migrations/migrate.ts';
import { groupRoles } from '../../src/database/roles/roles.ts';
import { createLog } from '../../src/log.ts';
import { findingsHere } from '../audit/support.ts';
import { asAdministrator } from '../support/database.ts';
import { withLogin } from '../support/logins.ts';
import { createMigrationsCopy, type MigrationsCopy } from '../support/migrationsCopy.ts';
import {
  administer,
  canConnect,
  inherited,
  isMigrated,
  makeRoles,
  type Names,
  nameAll,
  publicMayConnect,
  requests,
  schemasIn,
  urlIn,
} from './plainOwner.ts';

// The roles without a login are there, since the template of every database has made them. With PostgreSQL 15 to 17, and where there are
// none: test/system/owners.system.ts.

/** An owner without CREATEROLE, and a database of that owner which lacks one migration: to run them all takes two seconds. */
let prepared: Names;
/** The sources with one migration more. */
let copy: MigrationsCopy;
let names: Names;
let urls: { ownerUrl: string; authUrl: string };
let logs: Record<string, unknown>[];
const log = createLog('warn', { write: (line) => logs.push(JSON.parse(line)) });

const urlOf = (username: string) => urlIn(names, username);

beforeAll(async () => {
  logs = [];
  prepared = nameAll();
  names = prepared;
  await asAdministrator(`create role ${names.owner} login password 'secret'`);
  await asAdministrator(`create database ${names.database} owner ${names.owner} template template0`);
  await makeRoles(names);
  await migrate({ ownerUrl: urlOf(names.owner), authUrl: urlOf(names.authenticator) }, log);
  copy = await createMigrationsCopy();
  await copy.commit('lacking', 'create table app_hidden.lacking ();');
});
afterAll(async () => {
  await copy.remove();
  await asAdministrator(`drop database ${prepared.database}`);
  for (const name of [prepared.authenticator, prepared.owner]) await asAdministrator(`drop role ${name}`);
});

beforeEach(() => {
  names = { ...nameAll(), owner: prepared.owner };
  urls = { ownerUrl: urlOf(names.owner), authUrl: urlOf(names.authenticator) };
  logs = [];
});
afterEach(async () => {
  await asAdministrator(`drop database if exists ${names.database}`);
  for (const name of [names.authenticator, names.other]) await asAdministrator(`drop role if exists ${name}`);
});

/** Gives the test a database of its own, which lacks one migration. */
const createDatabase = () =>
  asAdministrator(
    `create database ${names.database} owner ${names.owner} template ${prepared.database} strategy file_copy`,
  );

test('every role that migrations make is made before them, and in the list of docs/operating.md', async () => {
  const guide = await readFile(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  const listed = [...guide.matchAll(/^create role (graph_\w+) nologin;$/gm)].map(([, name]) => name);
  const made = await withLogin(process.env.TEST_OWNER_URL ?? '', async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select rolname::text as name from pg_roles where rolname ~ '^graph_' and not rolcanlogin`,
    );
    return rows.map(({ name }) => name);
  });

  expect(listed.sort()).toEqual(made.sort());
  expect(groupRoles.toSorted()).toEqual(made);
});

describe('an owner without CREATEROLE', () => {
  test('gets the SQL that is missing, and nothing is changed; with it the database is migrated, and again', async () => {
    names = nameAll();
    urls = { ownerUrl: urlOf(names.owner), authUrl: urlOf(names.authenticator) };
    await asAdministrator(`create role ${names.owner} login password 'secret'`);
    await asAdministrator(`create database ${names.database} owner ${names.owner} template template0`);

    const message = await migrate(urls, log).catch((error: Error) => error.message);

    expect(String(message).split('\n')).toEqual([
      `DATABASE_URL's role ${names.owner} may not do all that is needed; nothing was changed. As an administrator of the database, run`,
      `  create role "${names.authenticator}" with login noinherit password '…' /* the one in AUTH_DATABASE_URL */;`,
      `  grant ${inherited} to "${names.owner}" with inherit true, set true;`,
      `  grant ${requests} to "${names.owner}" with inherit false, set true;`,
      `  grant ${requests} to "${names.authenticator}" with inherit false, set true;`,
      'and then this again. docs/operating.md has the list of roles.',
    ]);
    expect(await schemasIn(names)).toEqual([]);

    await administer(String(message));
    await migrate(urls, log);
    await migrate(urls, log);

    expect(await schemasIn(names)).toContain('app_public');
    await withLogin(urls.authUrl, (client) => client.query('set role graph_oauth'));
    expect(
      await withLogin(urls.ownerUrl, async (client) => {
        const { rows } = await client.query(`${findingsHere} or detail ~ any ($1)`, [Object.values(names)]);
        // It serves the other databases of this cluster.
        return rows.filter(({ object }) => object !== 'graph_authenticator');
      }),
    ).toEqual([]);
    await asAdministrator(`drop database ${names.database}`);
    await asAdministrator(`drop role ${names.authenticator}, ${names.owner}`);
  });

  test.each<[string, () => string[], () => string]>([
    [
      'a login with another password',
      () => [`alter role ${names.authenticator} password 'another'`],
      () => `alter role "${names.authenticator}" with login noinherit password '…' /* the one in AUTH_DATABASE_URL */`,
    ],
    [
      'a role that may not log in',
      () => [`alter role ${names.authenticator} nologin`],
      () => `alter role "${names.authenticator}" with login noinherit password '…' /* the one in AUTH_DATABASE_URL */`,
    ],
    [
      'a login that inherits what it may become',
      () => [`grant graph_user to ${names.authenticator} with inherit true`],
      () => `grant graph_user to "${names.authenticator}" with inherit false, set true`,
    ],
    [
      'a login that may not become a role of requests',
      () => [`revoke graph_basic from ${names.authenticator}`],
      () => `grant graph_basic to "${names.authenticator}" with inherit false, set true`,
    ],
    [
      'an owner whom policies do not know',
      () => [`grant graph_admin to ${names.owner} with inherit false`],
      () => `grant graph_admin to "${names.owner}" with inherit true, set true`,
    ],
    [
      'a database in which it may make no schema',
      () => [`alter database ${names.database} owner to postgres`],
      () => `grant create on database ${names.database} to ${names.owner}`,
    ],
    [
      'a database to which the login may not connect',
      () => [
        `alter database ${names.database} owner to postgres`,
        `grant create, connect on database ${names.database} to ${names.owner}`,
        `revoke connect on database ${names.database} from public`,
      ],
      () => `grant connect on database ${names.database} to ${names.authenticator}`,
    ],
  ])('gets the reason what is wrong with %s', async (_, spoil, remedy) => {
    await createDatabase();
    await makeRoles(names);
    for (const statement of spoil()) await asAdministrator(statement);

    const message = await copy.migrate(urls, log).catch((error: Error) => error.message);

    expect(String(message).split('\n').slice(1, -1)).toEqual([`  ${remedy()};`]);
    expect(await isMigrated(names)).toBe(false);
    await administer(String(message));
    await copy.migrate(urls, log);
    expect(await isMigrated(names)).toBe(true);
  });
});

test('an authenticator that passes by row-level security is refused before anything is changed', async () => {
  await createDatabase();
  await makeRoles(names);
  await asAdministrator(`alter role ${names.authenticator} bypassrls`);

  await expect(copy.migrate(urls, log)).rejects.toThrow('bypasses row-level security');
  expect(await isMigrated(names)).toBe(false);

  await asAdministrator(`alter role ${names.authenticator} nobypassrls`);
  await copy.migrate(urls, log);
  expect(await isMigrated(names)).toBe(true);
});

describe('CONNECT', () => {
  test('is of the owner, the logins of servers and auditors; the log names the logins that lose it, once', async () => {
    await createDatabase();
    await makeRoles(names);
    await asAdministrator(`create role ${names.other} login password 'secret'`);
    await expect(canConnect(urlOf(names.other))).resolves.toBe(true);

    await copy.migrate(urls, log);

    await expect(canConnect(urlOf(names.other))).resolves.toBe(false);
    await expect(canConnect(urlOf(names.authenticator))).resolves.toBe(true);
    await expect(canConnect(urlOf(names.owner))).resolves.toBe(true);
    const line = logs.find(({ msg }) => String(msg).includes('PUBLIC has lost CONNECT'));
    expect(line?.roles).toContain(names.other);
    expect(line?.roles).not.toContain(names.authenticator);
    expect(line?.roles).not.toContain(names.owner);

    logs = [];
    await copy.migrate(urls, log);
    expect(logs).toEqual([]);

    await asAdministrator(`grant graph_auditor to ${names.other}`);
    await expect(canConnect(urlOf(names.other))).resolves.toBe(true);
  });

  test('stays with the login of servers that this run does not know', async () => {
    await createDatabase();
    await makeRoles(names);
    await copy.migrate(urls, log);
    await asAdministrator(`create role ${names.other} login noinherit password 'secret'`);
    await asAdministrator(`grant connect on database ${names.database} to public`);
    await asAdministrator(`grant ${requests} to ${names.other}`);
    await copy.migrate({ ...urls, authUrl: urlOf(names.other) }, log);

    await expect(canConnect(urlOf(names.authenticator))).resolves.toBe(true);
    await expect(canConnect(urlOf(names.other))).resolves.toBe(true);
    expect(await publicMayConnect(names)).toBe(false);
  });

  test('stays with PUBLIC where another role owns the database, and the log has the SQL for that one', async () => {
    await createDatabase();
    await makeRoles(names);
    await asAdministrator(`alter database ${names.database} owner to postgres`);
    await asAdministrator(`grant create on database ${names.database} to ${names.owner}`);

    await copy.migrate(urls, log);

    expect(await publicMayConnect(names)).toBe(true);
    const remedy = String(logs.find(({ remedy }) => remedy)?.remedy);
    for (const statement of remedy.split('; ')) await asAdministrator(statement);
    expect(await publicMayConnect(names)).toBe(false);
    for (const name of [names.owner, names.authenticator]) await expect(canConnect(urlOf(name))).resolves.toBe(true);
    logs = [];
    await copy.migrate(urls, log);
    expect(logs).toEqual([]);
  });
});
