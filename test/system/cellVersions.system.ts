/** An organization moves between cells of different majors of PostgreSQL, and back. */
import { Pool } from 'pg';
import { migrate } from '../../src/database/migrations/migrate.ts';
import { createLog } from '../../src/log.ts';
import { expectDone } from '../admin/inProcess.ts';
import {
  contents,
  documentOf,
  key,
  leftOvers,
  move,
  noteKey,
  provision,
  type TestCells,
} from '../admin/moveOrganization/cells.ts';
import { createTestDataDirectory, directoryInMemory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import { startOlderPostgres } from './support/olderPostgres.ts';
import { binariesOf, majors } from './support/postgresMajors.ts';
import { query } from './support/query.ts';

type Cell = Pick<TestCells['here'], 'owner' | 'ownerUrl'>;
type Major = (typeof majors)[number];

const password = 'of-the-test';
const resources = new AsyncDisposableStack();
afterAll(() => resources.disposeAsync());

/** A migrated cell of that major, with an organization of its own. */
async function startCell(major: Major): Promise<Cell> {
  const dataDir = await createTestDataDirectory(await directoryInMemory());
  resources.defer(() => removeTestDataDirectory(dataDir));
  const postgres = await startOlderPostgres(dataDir, password, await binariesOf(major, dataDir), {
    wal_level: 'logical',
  });
  resources.defer(postgres.stop);
  const urlOf = (user: string, database = 'graph') =>
    `postgres://${user}:${password}@127.0.0.1:${postgres.port}/${database}`;
  const ownerUrl = urlOf('postgres');
  await query(urlOf('postgres', 'postgres'), 'create database graph');
  await migrate({ ownerUrl, authUrl: urlOf('authenticator') }, createLog('error'));
  const owner = new Pool({ connectionString: ownerUrl, max: 2 });
  resources.defer(() => owner.end());
  await noteKey(owner, key);
  await provision({ owner }, documentOf(`Of${major}`));
  return { owner, ownerUrl };
}

const [oldest, older, newer, newest] = majors;

test.each<[Major, Major]>([
  [oldest, newest],
  [older, newer],
])(
  'between PostgreSQL %i and %i, and back',
  async (one, two) => {
    const [here, there] = [await startCell(one), await startCell(two)];
    await provision(here, documentOf('Acme', 50));
    const acme = await contents(here, 'Acme');
    const [own, others] = [await contents(here, `Of${one}`), await contents(there, `Of${two}`)];
    expect(acme['app_public.users']).toHaveLength(50);

    for (const [from, to] of [
      [here, there],
      [there, here],
    ] as const) {
      const cells = { here: from, there: to };
      for (const step of [[], ['--cut-over'], ['--drop']]) expectDone(await move(cells, step));
      expect([await contents(from, 'Acme'), await contents(to, 'Acme')]).toEqual([{}, acme]);
      expect(await leftOvers(cells)).toEqual([]);
    }
    expect([await contents(here, `Of${one}`), await contents(there, `Of${two}`)]).toEqual([own, others]);
  },
  300_000,
);
