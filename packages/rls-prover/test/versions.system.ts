import { createTestDataDirectory, removeTestDataDirectory } from '../../../test/support/dataDirectory.ts';
import { startOlderPostgres } from '../../../test/system/support/olderPostgres.ts';
import { binariesOf, majors } from '../../../test/system/support/postgresMajors.ts';
import { query } from '../../../test/system/support/query.ts';
import { passed, runTests } from '../../../test/system/support/runTests.ts';

// The package's tests on older versions of PostgreSQL, which npm installs. All other runs use the newest version.

const newest = Math.max(...majors);

test.each(majors.filter((major) => major !== newest))(
  'the tests pass on PostgreSQL %i',
  async (major) => {
    const dataDir = await createTestDataDirectory();
    const postgres = await startOlderPostgres(dataDir, 'of-the-test', await binariesOf(major, dataDir));
    try {
      const url = `postgres://postgres:of-the-test@127.0.0.1:${postgres.port}/postgres`;
      const countTransactions = async () =>
        Number((await query<{ number: string }>(url, 'select txid_current() as number'))[0]?.number);
      const before = await countTransactions();

      // Roles are the server's, which all files have in common.
      const result = await runTests(['packages/rls-prover/test', '--runInBand'], {
        ...{ TEST_POSTGRES_URL: url, SCHEMAS: '20' },
      });

      expect(result).toEqual(passed);
      expect((await countTransactions()) - before).toBeGreaterThan(100);
    } finally {
      await postgres.stop();
      await removeTestDataDirectory(dataDir);
    }
  },
  1_200_000,
);
