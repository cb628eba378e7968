import { blankCurrent } from '../../src/commands/development/migrations.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createMigrationsCopy, type MigrationsCopy } from '../support/migrationsCopy.ts';
import { startProcess } from '../support/process.ts';

// `npm run db:commit`, killed after each of its steps: those that change a file of `migrations`, or a database as a whole.

let copy: MigrationsCopy;
let database: TestDatabase;
beforeAll(async () => {
  [copy, database] = await Promise.all([createMigrationsCopy(), createTestDatabase()]);
  await copy.write('kill.mjs', kill);
});
afterAll(async () => {
  await database.drop();
  await copy.remove();
});

const kill = `
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import pg from 'pg';
let steps = 0;
const step = () => {
  if (++steps === Number(process.env.KILL_AFTER)) process.kill(process.pid, 'SIGKILL');
};
for (const name of ['writeFile', 'chmod', 'rename', 'rm']) {
  const run = fs[name];
  fs[name] = async (path, ...others) => {
    const done = await run(path, ...others);
    if (String(path).includes('/migrations/')) step();
    return done;
  };
}
syncBuiltinESMExports();
const { query } = pg.Client.prototype;
pg.Client.prototype.query = function (...given) {
  const running = query.apply(this, given);
  if (!/^((create|comment on|drop) database|reset lock_timeout)/.test(given[0])) return running;
  return running.then((done) => (step(), done));
};
process.on('exit', () => console.error('steps: ' + steps));
`;

const sqlOf = (name: string) =>
  `drop type if exists app_hidden.${name};\ncreate type app_hidden.${name} as (name text);`;

/** @param killAfter so many steps; none at 0 */
async function commit(name: string, killAfter: number) {
  const environment = {
    PATH: process.env.PATH ?? '',
    DATABASE_URL: database.ownerUrl,
    KILL_AFTER: String(killAfter),
    NODE_OPTIONS: `--import=${copy.root}/kill.mjs`,
  };
  const { exited, output } = startProcess(['commit', name], environment, copy.root);
  return { ...(await exited), output: output.stdout + output.stderr };
}

/** Where the migration is: in which files, and in which databases. */
async function stateOf(name: string, before: readonly string[]) {
  const { rows } = await database.owner.query(
    `select
       (select count(*)::int from graphile_migrate.migrations where filename = $1) as applied,
       to_regtype($2) is not null as made,
       array(select datname::text from pg_database where datname ~ '^gqs_') as helpers`,
    [`${String(before.length + 1).padStart(6, '0')}.sql`, `app_hidden.${name}`],
  );
  return {
    ...rows[0],
    files: (await copy.committed()).filter((file) => !before.includes(file)),
    current: (await copy.read('migrations/current.sql')).trim(),
  };
}

const committed = (name: string, before: readonly string[]) => ({
  ...{ applied: 1, made: true, helpers: [] },
  files: [`${String(before.length + 1).padStart(6, '0')}-${name}.sql`],
  current: blankCurrent,
});

test('the next one ends or undoes it, after whichever step it was killed', async () => {
  const save = (name: string) => copy.write('migrations/current.sql', sqlOf(name));
  const start = await copy.committed();
  await save('whole');
  const whole = await commit('whole', 0);
  const steps = Number(/steps: (\d+)/.exec(whole.output)?.[1]);
  expect({ code: whole.code, ...(await stateOf('whole', start)) }).toEqual({ code: 0, ...committed('whole', start) });
  expect(steps).toBeGreaterThan(10);

  for (let step = 1; step <= steps; step++) {
    const [name, before] = [`killed${step}`, await copy.committed()];
    await save(name);

    expect(await commit(name, step)).toMatchObject({ signal: 'SIGKILL' });
    const left = await stateOf(name, before);
    const next = await commit(name, 0);

    const isInBoth = left.files.some((file: string) => file.endsWith('.sql')) && left.current !== blankCurrent;
    const isDone = left.applied === 1 && left.current === blankCurrent;
    expect({ step, isInBoth, code: next.code, output: next.output, ...(await stateOf(name, before)) }).toEqual({
      ...{ step, isInBoth: false, code: isDone ? 1 : 0, output: expect.any(String) },
      ...committed(name, before),
    });
  }
}, 900_000);
