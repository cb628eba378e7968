import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { blankCurrent } from '../../src/commands/development/migrations.ts';
import { findEmbeddedPostgres } from '../../src/database/embedded/embedded.ts';
import { createLog } from '../../src/log.ts';
import { ask } from '../graphql/client.ts';
import { withLogin } from '../support/logins.ts';
import { createMigratedDataDirectory } from '../support/migratedDataDirectory.ts';
import type { TestProcess } from '../support/process.ts';
import { until } from '../support/until.ts';
import type { Copy } from './createCopy.ts';
import { comment, readDoors, undone } from './findingCases.ts';
import { type Dev, placesIn, startDev } from './startDev.ts';

let dev: Dev;
let copy: Copy;
let server: TestProcess;
let url: string;
beforeAll(async () => {
  // From nothing at all it starts in test/system/findings.system.ts.
  dev = await startDev(createMigratedDataDirectory);
  ({ copy, server } = dev);
  url = /Graph Query Service: (http\S+)/.exec(server.output.stdout)?.[1] ?? '';
});
afterAll(() => dev.stop());

describe('npm run dev', () => {
  test('migrates and reloads on a save, and shows what has changed in the schema', async () => {
    await copy.save(addLabel);

    await server.says("+ Field 'label' was added to object type 'Unit'");

    expect(server.output.stdout).toMatch(
      /Migrated and reloaded in \d+ ms; the schema has changed:\n {2}\+ Field 'label'/,
    );
    expect(await fieldsOfUnit()).toContain('label');
  });

  test.each([
    [
      'that PostgreSQL does not understand',
      '-- naïve 🎉\nselect 1;\n\nselect nothing\n  from nowhere;\n',
      'migrations/current.sql:5:8: relation "nowhere" does not exist (SQLSTATE 42P01)\n     5 |   from nowhere;\n       |        ^^^^^^^',
    ],
    [
      'that fails when it runs',
      '/* a\n b */ select 1;\n-- café\ncreate table app_public.units (id int);\n',
      'migrations/current.sql:4:1: relation "units" already exists (SQLSTATE 42P07)\n     4 | create table app_public.units (id int);\n       | ^^^^^^\n  Help: A committed migration has made it. Choose another name, or change what is there by `alter`.',
    ],
  ])('keeps the old schema when the file has SQL %s, and shows its line', async (_, sql, report) => {
    await copy.save(sql);

    await server.says(`${report}\nThe schema stays as it was.`);

    expect(await fieldsOfUnit()).toContain('label');
  });

  test('keeps the old schema when the new one cannot be built, and goes on with the next save', async () => {
    await copy.save('alter function app_public.user_create rename to hidden;');
    await server.says('The schema cannot be built: The functions app_public.user_* are missing');
    expect(await fieldsOfUnit()).toContain('label');

    await copy.save(`alter function app_public.hidden rename to user_create;\n${dropLabel}`);

    await server.says("- Field 'label' was removed from object type 'Unit'");
    expect(await fieldsOfUnit()).not.toContain('label');
  });

  test('shows the line of a mistake in a function when it is first called, and once', async () => {
    await copy.save(mistaken);
    await server.says("+ Field 'mistake' was added to object type 'Mutation'");
    const report =
      'migrations/current.sql:6:3: column "nme" does not exist (SQLSTATE 42703)\n     6 |   perform nme from app_public.units;\n       |   ^^^^^^^\n';

    expect(await callMistake()).toEqual(['INTERNAL', 'INTERNAL']);

    await server.says(`A function failed when it was called:\n${report}`);
    expect(server.output.stdout).toContain('PL/pgSQL function app_public.mistake() line 4 at PERFORM');
    expect(server.output.stdout.split(report)).toHaveLength(2);
    await copy.save('drop function app_public.mistake();');
    await server.says("- Field 'mistake' was removed from object type 'Mutation'");
  });

  // Each finding is in test/system/findings.system.ts, and what the database finds of it in tagLints.test.ts and
  // graphLints.test.ts of test/database.
  test('says once of a finding that stays, and again of one that comes back', async () => {
    const doors = await readDoors();
    const wrong = `${undone}\n${comment('@filtr names')(doors)}`;

    expect(placesIn(await dev.save(wrong))).toHaveLength(1);
    expect(placesIn(await dev.save(`${wrong}-- More.\n`))).toEqual([]);
    expect(placesIn(await dev.save(`${undone}\n${doors}`))).toEqual([]);
    expect(placesIn(await dev.save(wrong))).toHaveLength(1);
    await dev.save(undone);
  });

  test('is not for production', async () => {
    const { code, output } = await copy.run(['dev'], { NODE_ENV: 'production' });

    expect(code).toBe(1);
    expect(output).toContain('NODE_ENV is production');
  });

  const mistaken = `drop function if exists app_public.mistake();

create function app_public.mistake() returns text language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
begin
  -- naïve 🎉
  perform nme from app_public.units;
  return 'a';
end $$;
comment on function app_public.mistake() is '@mutation';
grant execute on function app_public.mistake() to graph_app;
`;

  /** Twice, as the demo's application. */
  async function callMistake(): Promise<string[]> {
    const [, secret = ''] = /client_secret (\S+)$/m.exec(server.output.stdout) ?? [];
    const form = { grant_type: 'client_credentials', client_id: 'demo-backend', client_secret: secret, scope: 'app' };
    const issued = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
    const { access_token: token } = (await issued.json()) as { access_token: string };
    const { body } = await ask({ url }, token, 'mutation { one: mistake { result } two: mistake { result } }');
    return (body.errors ?? []).map(({ extensions }) => extensions.code);
  }

  async function fieldsOfUnit(): Promise<string[]> {
    const query = encodeURIComponent('{ __type(name: "Unit") { fields { name } } }');
    const response = await fetch(`${url}/graphql?query=${query}`);
    const { data } = (await response.json()) as { data: { __type: { fields: { name: string }[] } } };
    return data.__type.fields.map(({ name }) => name);
  }
});

describe('the way of a change', () => {
  test('a migration that fails is not committed', async () => {
    await copy.save('select 1;\nselect * from nowhere;\n');
    const before = await readdir(join(copy.root, 'migrations/committed'));

    const { code, output } = await copy.run(['commit', 'nothing']);

    expect(code).toBe(1);
    expect(output).toContain('Nothing is committed.\nmigrations/current.sql:2:15: relation "nowhere" does not exist');
    expect(await readdir(join(copy.root, 'migrations/committed'))).toEqual(before);
    expect(await readFile(join(copy.root, 'migrations/current.sql'), 'utf8')).toContain('nowhere');
    expect(await copy.run(['commit'])).toMatchObject({ code: 1, output: expect.stringContaining('Say what') });
  });

  test('an unsafe migration is not committed', async () => {
    await copy.save('select 1;\ncreate index nowhere_idx on app_public.nowhere (locale);\n');

    const { code, output } = await copy.run(['commit', 'index']);

    expect(code).toBe(1);
    expect(output).toMatch(
      /^Nothing is committed\.\nmigrations\/current\.sql:2: .*\(require-concurrent-index-creation\)\n {5}2 \| create index nowhere_idx/,
    );
  });

  test('db:commit makes it a migration, db:status says what is left to do, and schema:update renews the golden files', async () => {
    // At once, so that the server is at work on the save, too.
    await copy.save(`${addLabel}alter function app_hidden.is_text(text) cost 100;\n`);

    expect(await copy.run(['commit', 'label units'])).toMatchObject({ code: 0 });

    const committed = (await readdir(join(copy.root, 'migrations/committed'))).sort().at(-1) ?? '';
    expect(committed).toMatch(/^\d{6}-label-units\.sql$/);
    expect(await readFile(join(copy.root, 'migrations/committed', committed), 'utf8')).toContain(addLabel.trim());
    const { mode } = await stat(join(copy.root, 'migrations/committed', committed));
    expect((mode & 0o777).toString(8)).toBe('444');
    // The server runs the empty file, too, when it is done with the save.
    await until(async () => !(await ranLast()).includes('units_label'));
    await dev.save('select 1;\nselect * from nowhere;\n');
    expect(await copy.run(['status'])).toEqual({
      code: 1,
      output: [
        'migrations/current.sql is not what the database ran last: npm run dev, which says what is wrong with it',
        'migrations/current.sql is not committed: npm run db:commit -- "what it does"',
        'test/graphql/schema.graphql is not what the migrations give: npm run schema:update',
        'docs/database.md is not what the migrations give: npm run schema:update',
        'test/database/catalogue.sql is not what the migrations give: npm run schema:update',
        'test/database/objects/app_hidden/is_text.sql is not what the migrations give: npm run schema:update',
        '',
      ].join('\n'),
    });

    await dev.save(blankCurrent);
    expect(await copy.run(['schema'])).toMatchObject({ code: 0 });
    expect(await readFile(join(copy.root, 'test/graphql/schema.graphql'), 'utf8')).toContain('label: String');
    // The function of the baseline that this migration alters, and not the new one.
    expect(await readdir(join(copy.root, 'test/database/objects'), { recursive: true })).toEqual([
      'app_hidden',
      'app_hidden/is_text.sql',
    ]);
    expect(await copy.run(['status'])).toEqual({ code: 0, output: 'Migrations, database and golden files agree.\n' });
  }, 120_000);
});

/** The text of `current.sql` that the database ran last. */
async function ranLast(): Promise<string> {
  const { ownerUrl = '' } = (await findEmbeddedPostgres(copy.dataDir, createLog('silent'))) ?? {};
  return withLogin(ownerUrl, async (owner) => {
    const { rows } = await owner.query<{ content: string }>('select content from graphile_migrate.current');
    return rows.map(({ content }) => content).join();
  });
}

const dropLabel = 'drop function if exists app_public.units_label(app_public.units);';
const addLabel = `${dropLabel}
create function app_public.units_label(unit app_public.units) returns text
  language sql stable as $$ select 'Unit ' || unit.name $$;
comment on function app_public.units_label(app_public.units) is 'A label.';
grant execute on function app_public.units_label(app_public.units) to graph_app;
`;
