import { readFile } from 'node:fs/promises';
import { migrate } from 'graphile-migrate';
import { migrationsFolder, readLints } from '../../src/database/migrations/committedMigrations.ts';
import { quiet } from '../../src/database/migrations/runCommitted.ts';
import { createLog } from '../../src/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { nameLogins, type TestLogins } from '../support/logins.ts';
import { createMigrationsCopy, type MigrationsCopy } from '../support/migrationsCopy.ts';

// The lints and invariants of this version are no migrations: they are made anew after each run of migrations.

const log = createLog('silent');
const findings = 'migrations/lints/07-findings.sql';

let copy: MigrationsCopy;
let database: TestDatabase;
let logins: TestLogins;
beforeAll(async () => {
  copy = await createMigrationsCopy();
});
beforeEach(async () => {
  database = await createTestDatabase();
  logins = nameLogins(database);
});
afterEach(async () => {
  await database.drop();
  await logins.drop();
});
afterAll(() => copy.remove());

const comment = async () =>
  (await database.owner.query(`select obj_description('audit.findings'::regclass) as text`)).rows[0]?.text;
const rules = async () =>
  (await database.owner.query(`select name, rule from audit.invariants where name in ('basic', 'ours') order by 1`))
    .rows;

/** Puts another text into a file of the copy while it works. */
async function withText(path: string, text: string, work: () => Promise<void>): Promise<void> {
  const before = await copy.read(path);
  await copy.write(path, text);
  await work().finally(() => copy.write(path, before));
}

test('db:migrate makes them as their files say, and leaves invariants of a team’s own', async () => {
  const [before, basic] = [await comment(), await rules()];
  await database.owner.query(`
    drop view audit.findings;
    update audit.invariants set rule = 'Weaker.', expression = 'true' where name = 'basic';
    insert into audit.invariants (name, expression, rule) values ('ours', 'true', 'Our own.')`);

  await copy.migrate(logins, log);
  expect(await comment()).toBe(before);
  expect(await rules()).toEqual([...basic, { name: 'ours', rule: 'Our own.' }]);

  await withText(findings, `${await copy.read(findings)}comment on view audit.findings is 'Changed.';`, () =>
    copy.migrate(logins, log),
  );
  expect(await comment()).toBe('Changed.');
});

test('a lint that fails stops db:migrate, which says where, and all stay as they were', async () => {
  const tags = 'migrations/lints/01-smart-tags.sql';
  const before = await comment();
  const migrating = withText(tags, `comment on view audit.findings is 'Half.';`, () =>
    withText(findings, 'create or replace view audit.findings as select 1 as other', () => copy.migrate(logins, log)),
  );

  await expect(migrating).rejects.toThrow(/lints\/07-findings\.sql failed and changed nothing: cannot drop columns/);
  expect(await comment()).toBe(before);
});

test('a version that is older than the database leaves those of the newer one', async () => {
  await database.owner.query(
    `insert into graphile_migrate.migrations (hash, filename) values ('sha1:newer', '999999.sql');
     comment on view audit.findings is 'Newer.'`,
  );

  await copy.migrate(logins, log);

  expect(await comment()).toBe('Newer.');
});

test('graphile-migrate makes the same by .gmrc', async () => {
  const text = await readFile(new URL('../../.gmrc', import.meta.url), 'utf8');
  const settings = JSON.parse(text.replace(/^\/\/.*$/gm, ''));
  expect(settings.afterAllMigrations).toEqual((await readLints()).map(({ name }) => `lints/${name}`));
  await copy.migrate(logins, log);
  const before = await comment();
  await database.owner.query('drop view audit.findings');

  await migrate({ ...settings, migrationsFolder, logger: quiet, connectionString: database.ownerUrl }, false, true);

  expect(await comment()).toBe(before);
});
