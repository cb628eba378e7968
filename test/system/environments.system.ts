import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { migrate } from '../../src/database/migrations/migrate.ts';
import { createLog } from '../../src/log.ts';
import { readPage, root } from '../docs/pages.ts';
import { administer, type Cluster, urlOf } from '../environments/cluster.ts';
import { databaseRows } from '../environments/databases.ts';
import { createWorkshop } from '../environments/environment.ts';
import { machineRows } from '../environments/machines.ts';
import { allPassed, type Cells, nameOf, type Row, startRows } from '../environments/matrix.ts';
import { tableOf } from '../environments/table.ts';
import { createTestDataDirectory, directoryInMemory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import { certificateFile, serveTls } from '../support/serveTls.ts';
import { olderBinaries, startOlderPostgres } from './support/olderPostgres.ts';
import { binariesOf, majors } from './support/postgresMajors.ts';

// The whole matrix: each way that a database, a cluster, a shell, a folder or a clone may be, and what must work there.

let dump: string;
let workshop: Awaited<ReturnType<typeof createWorkshop>>;
/** The version of the embedded database, which machines have, and on which the dev loop is tried: it takes as long as all the rest. */
const newest = 18;
const resources = new AsyncDisposableStack();

beforeAll(async () => {
  workshop = await createWorkshop();
  resources.defer(workshop.remove);
  const folder = await createTestDataDirectory();
  resources.defer(() => removeTestDataDirectory(folder));
  dump = join(folder, 'dump.sql');
});
afterAll(() => resources.disposeAsync());

/** Filled as the tests of each version begin. */
const results: { readonly major: number; readonly row: Row; readonly cells: Promise<Cells> }[] = [];

describe.each(majors)('on PostgreSQL %i', (major) => {
  const rows = major === newest ? [...databaseRows, ...machineRows] : databaseRows;
  const own = new AsyncDisposableStack();
  let cluster: Cluster;
  let started: Map<Row, Promise<Cells>>;
  beforeAll(async () => {
    cluster = await startCluster(major, own);
    started = startRows(rows, cluster, 4);
    for (const [row, cells] of started) results.push({ major, row, cells });
  }, 300_000);
  afterAll(async () => {
    await Promise.allSettled(started.values());
    await own.disposeAsync();
  }, 300_000);

  test.each(rows.map((row) => [nameOf(row), row] as const))(
    '%s',
    async (_, row) => {
      expect(await started.get(row)).toEqual(allPassed(cluster));
    },
    300_000,
  );
});

const generated = /(?<=<!-- generated -->\n)[\s\S]*(?=<!-- \/generated -->)/;

/** Renewed by UPDATE_GOLDEN=1, and reviewed. Only root can try each user, and so has every row. */
test('docs/platforms.md has the matrix', async () => {
  const page = 'docs/platforms.md';
  const tried = await Promise.all(results.map(async ({ cells, ...result }) => ({ ...result, cells: await cells })));
  const expected = `\n${tableOf(tried)}\n\n`;
  if (process.env.UPDATE_GOLDEN)
    await writeFile(
      join(root, page),
      (await readPage(page)).replace(generated, () => expected),
    );

  const lines = generated.exec(await readPage(page))?.[0].split('\n');
  const found = process.getuid?.() === 0 ? lines : lines?.filter((line) => expected.includes(line));
  expect(found).toEqual(expected.split('\n'));
});

const password = 'of-the-test';

async function startCluster(major: number, stack: AsyncDisposableStack): Promise<Cluster> {
  const dataDir = await createTestDataDirectory(await directoryInMemory());
  stack.defer(() => removeTestDataDirectory(dataDir));
  const binaries = await binariesOf(major as (typeof majors)[number], dataDir);
  const postgres = await startOlderPostgres(dataDir, password, binaries);
  stack.defer(postgres.stop);

  const adminUrl = `postgres://postgres:${password}@127.0.0.1:${postgres.port}/postgres`;
  const authUrl = urlOf(adminUrl, { login: { name: 'matrix_0000aaaa', password } });
  const template = 'matrix_template';
  const migrated = {
    ownerUrl: urlOf(adminUrl, { database: template }),
    authUrl: urlOf(authUrl, { database: template }),
  };
  for (const statement of [
    `create database ${template}`,
    'alter system set fsync = off',
    'alter system set autovacuum = off',
  ])
    await administer({ adminUrl }, statement);
  await serveTls((statement) => administer({ adminUrl }, statement));
  await migrate(migrated, createLog('error'));
  if (major === 15) await run(join(olderBinaries, 'pg_dump'), [`--file=${dump}`, migrated.ownerUrl]);
  return {
    major,
    adminUrl,
    authUrl,
    template,
    dump,
    certificate: certificateFile,
    ...(major === newest && { commit: workshop.commit }),
  };
}

const run = promisify(execFile);
