import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { blankCurrent } from '../../src/commands/development/migrations.ts';
import type { DevelopmentCommand } from '../../src/commands/help.ts';
import { loadConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { nameLogins, type TestLogins } from '../support/logins.ts';
import { createMigrationsCopy, type MigrationsCopy } from '../support/migrationsCopy.ts';
import { startProcess } from '../support/process.ts';

const doors = 'drop type if exists app_hidden.door;\ncreate type app_hidden.door as (name text);\n';
const gates = 'drop type if exists app_hidden.gate;\ncreate type app_hidden.gate as (name text);\n';

let copy: MigrationsCopy;
let database: TestDatabase;
let logins: TestLogins;
let before: string[];
beforeEach(async () => {
  copy = await createMigrationsCopy();
  database = await createTestDatabase();
  logins = nameLogins(database);
  before = await copy.committed();
  await migrate();
});
afterEach(async () => {
  await database.drop();
  await logins.drop();
  await copy.remove();
});

test('the newest migration is current.sql again, and becomes the same one when it is committed', async () => {
  await copy.write('migrations/current.sql', `${blankCurrent}\n\n${doors}`);
  await run('commit', 'add doors');
  const [name = ''] = await added();
  const file = await copy.read(`migrations/committed/${name}`);

  expect(await uncommit()).toEqual([expect.stringContaining(`${name} is migrations/current.sql again`)]);
  expect(await added()).toEqual([]);
  expect(await current()).toBe(`--! Message: add doors\n\n${doors}`);
  expect(await applied()).not.toContain(name.slice(0, 6));

  await run('commit');
  expect(await added()).toEqual([name]);
  expect(await copy.read(`migrations/committed/${name}`)).toBe(file);
  expect(await applied()).toContain(name.slice(0, 6));
});

test('a migration of a release stays, and one after it does not', async () => {
  await commit('add doors', doors);
  await commit('add gates', gates);
  const [released = '', after] = await added();
  const [, hash] = /^--! Hash: (\S+)$/m.exec(await copy.read(`migrations/committed/${released}`)) ?? [];
  await copy.write('migrations/released.txt', `1.0.0 ${hash}\n`);

  expect(await uncommit()).toEqual([expect.stringContaining(`${after} is migrations/current.sql again`)]);
  await copy.write('migrations/current.sql', blankCurrent);
  await expect(uncommit()).rejects.toThrow(`${released} is released, and never changes`);

  expect(await added()).toEqual([released]);
  expect(await applied()).toContain(released.slice(0, 6));
});

test('the migrations of a new version come after those that the database has run already', async () => {
  const ours = await commit('add doors', doors);
  const theirs = await copy.commit('add gates', gates, before.at(-1));
  const hashOf = async (name = '') =>
    /^--! Hash: (\S+)$/m.exec(await copy.read(`migrations/committed/${name}`))?.[1] ?? '';
  const releases = `1.0.0 ${await hashOf(before.at(-1))}\n`;
  await copy.write('migrations/released.txt', `${releases}1.1.0 ${await hashOf(theirs)}\n`);

  // As docs/upgrading.md says.
  const moved = `${String(Number.parseInt(ours, 10) + 1).padStart(6, '0')}-add-gates.sql`;
  await copy.write(`migrations/committed/${moved}`, await copy.read(`migrations/committed/${theirs}`));
  await copy.removeFile(`migrations/committed/${theirs}`);
  await copy.write('migrations/released.txt', releases);
  expect((await run('rehash')).lines).toEqual([`New hashes: ${moved}`]);
  await copy.write('migrations/released.txt', `${releases}1.1.0 ${await hashOf(moved)}\n`);
  await migrate();

  expect((await run('rehash')).lines).toEqual(['The hashes are right.']);
  expect((await applied()).slice(-2)).toEqual([ours.slice(0, 6), moved.slice(0, 6)]);
  const { rows } = await database.owner.query(`select to_regtype('app_hidden.gate') is not null as gates`);
  expect(rows).toEqual([{ gates: true }]);
});

test('nothing is lost: neither by a second time nor over what current.sql has', async () => {
  await commit('add doors', doors);
  await commit('add gates', gates);
  const names = await added();

  await uncommit();
  await expect(uncommit()).rejects.toThrow('current.sql is not empty');
  expect(await added()).toEqual([names[0]]);
  expect(await current()).toContain(gates);

  await copy.write('migrations/current.sql', '-- a thought\n');
  await expect(uncommit()).rejects.toThrow('current.sql is not empty');
  expect([await added(), await current()]).toEqual([[names[0]], '-- a thought\n']);

  await copy.write('migrations/current.sql', blankCurrent);
  await uncommit();
  expect([await added(), await current()]).toEqual([[], `--! Message: add doors\n\n${doors}`]);
});

test('one without a transaction stays without', async () => {
  const sql = '--! no-transaction\ncreate index concurrently if not exists by_name_idx on app_public.units (name);\n';
  await commit('index names', sql);

  await uncommit();

  expect(await current()).toBe(sql);
});

test('only the last is taken back, from a database that has run no other after it', async () => {
  const name = await commit('add doors', doors);
  const follower = await copy.commit('add gates', gates);

  await expect(uncommit(name)).rejects.toThrow(`${follower} was committed after ${name}`);
  await expect(uncommit('000000-none.sql')).rejects.toThrow('There is no committed migration 000000-none.sql');
  await migrate();
  await copy.removeFile(`migrations/committed/${follower}`);
  await expect(uncommit()).rejects.toThrow(`has run another migration after ${name}`);
  expect([await added(), await current()]).toEqual([[name], blankCurrent]);

  await database.owner.query(`delete from graphile_migrate.migrations where filename > '${name.slice(0, 6)}.sql'`);
  await uncommit(`migrations/committed/${name}`);
  expect(await added()).toEqual([]);
});

test('what is on the main branch is not taken back, what is newer is', async () => {
  const published = await commit('add doors', doors);
  await publish();
  await expect(uncommit()).rejects.toThrow(`${published} is on the main branch: others have run it`);
  await expect(uncommit(published)).rejects.toThrow('is on the main branch');
  expect(await added()).toEqual([published]);

  await commit('add gates', gates);
  await uncommit();
  expect(await added()).toEqual([published]);
});

describe('when two branches have given the same number', () => {
  let ours: string;
  let theirs: string;
  beforeEach(async () => {
    ours = await commit('add doors', doors);
    theirs = await copy.commit('add gates', gates, before.at(-1));
  });

  test('every command names both files and the remedy, and changes nothing', async () => {
    const known = await applied();
    const problem = `${ours} and ${theirs} have the same number. Two branches have met: \`npm run db:uncommit`;

    await expect(migrate()).rejects.toThrow(problem);
    await copy.write('migrations/current.sql', 'select 1;\n');
    await expect(run('commit', 'one')).rejects.toThrow(problem);
    const { lines } = await run('status');
    expect(lines.filter((line) => line.startsWith(problem))).toHaveLength(1);
    expect([await applied(), await added()]).toEqual([known, [ours, theirs]]);
  });

  test('one is named, and gets the next number', async () => {
    await expect(uncommit()).rejects.toThrow(
      `say which one is not merged yet: npm run db:uncommit -- ${ours} or ${theirs}`,
    );

    await uncommit(ours);
    await migrate();
    await run('commit');

    const next = String(Number.parseInt(theirs, 10) + 1).padStart(6, '0');
    expect(await added()).toEqual([theirs, `${next}-add-doors.sql`]);
    expect(await applied()).toEqual(expect.arrayContaining([theirs.slice(0, 6), next]));
  });

  test('it is known by not being on the main branch, also when that is further', async () => {
    await copy.commit('add more gates', 'select 1;\n', theirs);
    const all = await added();
    await publish(ours);

    await uncommit();

    expect(await added()).toEqual(all.filter((name) => name !== ours));
    expect(await current()).toContain(doors);
  });

  test('a database that has run the other one is not taken for migrated', async () => {
    await copy.removeFile(`migrations/committed/${ours}`);

    await expect(migrate()).rejects.toThrow(
      `has run another migration under the number of ${theirs}; nothing was changed`,
    );
    expect((await database.owner.query(`select to_regclass('app_hidden.gate') as gates`)).rows).toEqual([
      { gates: null },
    ]);

    await database.owner.query(`delete from graphile_migrate.migrations where filename = '${ours.slice(0, 6)}.sql'`);
    await migrate();
    expect((await database.owner.query(`select to_regclass('app_hidden.gate') as gates`)).rows).not.toEqual([
      { gates: null },
    ]);
  });
});

test("a database of one's own must be named, and is refused in production", async () => {
  const name = await commit('add doors', doors);
  const database = new URL(logins.ownerUrl).pathname.slice(1);

  await expect(run('uncommit')).rejects.toThrow(`npm run db:uncommit -- --database ${database}`);
  const embedded = { DATA_DIR: '/nonexistent/data' };
  await expect(copy.run('uncommit', ['--database', database], loadConfig(embedded, 'migrations'))).rejects.toThrow(
    `--database ${database} names a database of your own, and DATABASE_URL is not set.`,
  );
  const environment = { PATH: process.env.PATH ?? '', DATABASE_URL: logins.ownerUrl, NODE_ENV: 'production' };
  const { exited, output } = startProcess(['uncommit', '--database', database], environment, copy.root);
  expect([(await exited).code, output.stderr]).toEqual([1, expect.stringContaining('NODE_ENV is production')]);
  expect(await added()).toEqual([name]);
});

const migrate = () => copy.migrate(logins, createLog('silent'));

async function commit(message: string, sql: string): Promise<string> {
  const name = await copy.commit(message, sql);
  await migrate();
  return name;
}

const run = (command: DevelopmentCommand, ...args: string[]) =>
  copy.run(command, args, loadConfig({ DATABASE_URL: logins.ownerUrl }, 'migrations'));

async function uncommit(...args: string[]): Promise<string[]> {
  return (await run('uncommit', '--database', new URL(logins.ownerUrl).pathname.slice(1), ...args)).lines;
}

const added = async () => (await copy.committed()).filter((name) => !before.includes(name));

const current = () => copy.read('migrations/current.sql');

async function applied(): Promise<string[]> {
  const { rows } = await database.owner.query<{ number: string }>(
    'select left(filename, 6) as number from graphile_migrate.migrations order by filename',
  );
  return rows.map(({ number }) => number);
}

/** What the copy has becomes the main branch of its remote, but for one file. */
async function publish(except?: string): Promise<void> {
  const git = (...args: string[]) => promisify(execFile)('git', args, { cwd: copy.root });
  const author = ['-c', 'user.name=A', '-c', 'user.email=a@acme.test'];
  await git('init', '--quiet');
  await git('add', 'migrations');
  if (except) await git('rm', '--quiet', '--cached', `migrations/committed/${except}`);
  await git(...author, 'commit', '--quiet', '--message', 'migrations');
  await git('update-ref', 'refs/remotes/origin/main', 'HEAD');
}
