import { createDatabase, urlOf } from './cluster.ts';
import { databaseParts } from './databases.ts';
import { createWorkshop } from './environment.ts';
import { allPassed, combine, nameOf, runRow, waysNamed } from './matrix.ts';

// The ways of the matrix that broke most, on the server of the test run: two environments, which every part of CI can try; all are in
// test/system/environments.system.ts.

const { settings, names, locales, contents, passwords } = databaseParts;
const rows = combine(
  createDatabase,
  waysNamed(settings, 'all that change what a statement means', '`default_transaction_read_only` on, of the roles'),
  waysNamed(names, '63 bytes, beyond ASCII', 'quotes, spaces and upper case'),
  waysNamed(locales, '`tr-TR` of ICU', '`C`'),
  waysNamed(contents, 'no schema `public`', 'tables and functions of others in `public`'),
  waysNamed(
    passwords,
    'no-break space and ligature, of a role that is there',
    'soft hyphen and zero width joiner, of a role that `db:migrate` makes',
  ),
);

let workshop: Awaited<ReturnType<typeof createWorkshop>>;
beforeAll(async () => {
  workshop = await createWorkshop();
});
afterAll(() => workshop.remove());

test.each(rows.map((row) => [nameOf(row), row] as const))('%s', async (_, row) => {
  const { TEST_OWNER_URL = '', TEST_AUTH_URL = '' } = process.env;
  const cluster = {
    major: 18,
    adminUrl: urlOf(TEST_OWNER_URL, { database: 'postgres' }),
    authUrl: TEST_AUTH_URL,
    commit: workshop.commit,
  };

  expect(await runRow(row, cluster)).toEqual(allPassed(cluster));
});
