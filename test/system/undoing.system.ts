import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findEmbeddedPostgres } from '../../src/database/embedded/embedded.ts';
import { createLog } from '../../src/log.ts';
import { type Copy, createCopy } from '../development/createCopy.ts';
import type { TestProcess } from '../support/process.ts';
import { until } from '../support/until.ts';
import { query } from './support/query.ts';

// What takes the database back, beside a server that follows the migration.

let copy: Copy;
let server: TestProcess;
let url: string;
beforeAll(async () => {
  copy = await createCopy();
  server = copy.start(['dev']);
  await server.says('Save migrations/current.sql');
  url = /Graph Query Service: (http\S+)/.exec(server.output.stdout)?.[1] ?? '';
  await copy.save(addLabel);
  expect(await copy.run(['commit', 'label units'])).toMatchObject({ code: 0 });
}, 120_000);
afterAll(async () => {
  server.signal('SIGTERM');
  await server.exited;
  await copy.remove();
});

test('db:uncommit takes it back beside the server, which goes on', async () => {
  const before = await readdir(join(copy.root, 'migrations/committed'));

  expect(await copy.run(['uncommit'])).toMatchObject({
    code: 0,
    output: expect.stringContaining('label-units.sql is'),
  });

  expect(await readdir(join(copy.root, 'migrations/committed'))).toEqual(
    before.filter((name) => !name.includes('label')),
  );
  expect(await readFile(join(copy.root, 'migrations/current.sql'), 'utf8')).toContain(addLabel.trim());
  expect(await copy.run(['commit'])).toMatchObject({ code: 0 });
  expect((await readdir(join(copy.root, 'migrations/committed'))).sort()).toEqual(before.sort());
});

test('db:reset makes the database anew beside the server, which comes back with the schema and the demo', async () => {
  await copy.save(addMotto);
  await server.says("+ Field 'motto' was added to object type 'Unit'");
  const token = await demoToken();
  const database = await databaseOid();

  for (let time = 0; time < 2; time++) {
    // The second time in the middle of a build.
    if (time === 1) await copy.save(`${addMotto}-- once more\n`);
    expect(await copy.run(['reset'])).toMatchObject({
      code: 0,
      output: expect.stringContaining('every committed migration'),
    });
  }

  expect(await databaseOid()).not.toBe(database);
  await until(async () => (await demoToken()) !== undefined);
  expect(await demoToken()).not.toBe(token);
  await until(async () => {
    const { data } = await askUnits();
    return data?.app?.rootUnits.nodes[0]?.motto === 'Motto of Campus';
  });
  expect(server.running).toBe(true);
}, 120_000);

test('db:reset that fails leaves the database', async () => {
  const database = await databaseOid();
  const broken = join(copy.root, 'migrations/committed/999999-broken.sql');
  await writeFile(broken, '--! Previous: -\n--! Hash: sha1:0\n\nselect 1;\n');

  const { code, output } = await copy.run(['reset']);

  await rm(broken);
  expect([code, output]).toEqual([1, expect.stringContaining('999999-broken.sql was not committed after')]);
  expect(await databaseOid()).toBe(database);
  expect(await copy.run(['reset'])).toMatchObject({ code: 0 });
});

async function demoToken(): Promise<string | undefined> {
  const [, secret = ''] = /client_secret ([^;\s]+)/.exec(server.output.stdout) ?? [];
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: 'demo-backend',
    client_secret: secret,
    scope: 'app',
  });
  const response = await fetch(`${url}/oauth/token`, { method: 'POST', body });
  return ((await response.json()) as { access_token?: string }).access_token;
}

async function askUnits(): Promise<{ data?: { app: { rootUnits: { nodes: { motto: string }[] } } | null } }> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${await demoToken()}` },
    body: JSON.stringify({ query: '{ app { rootUnits { nodes { motto } } } }' }),
  });
  return (await response.json()) as Awaited<ReturnType<typeof askUnits>>;
}

async function databaseOid(): Promise<number> {
  const urls = await findEmbeddedPostgres(copy.dataDir, createLog('silent'));
  const [row] = await query<{ oid: number }>(
    urls?.ownerUrl ?? '',
    'select oid from pg_database where datname = current_database()',
  );
  return row?.oid ?? 0;
}

const addMotto = `drop function if exists app_public.units_motto(app_public.units);
create function app_public.units_motto(unit app_public.units) returns text
  language sql stable as $$ select 'Motto of ' || unit.name $$;
comment on function app_public.units_motto(app_public.units) is 'A motto.';
grant execute on function app_public.units_motto(app_public.units) to graph_app;
`;
const addLabel = `drop function if exists app_public.units_label(app_public.units);
create function app_public.units_label(unit app_public.units) returns text
  language sql stable as $$ select 'Unit ' || unit.name $$;
comment on function app_public.units_label(app_public.units) is 'A label.';
grant execute on function app_public.units_label(app_public.units) to graph_app;
`;
