import { requireServer, versionProblem } from '../../src/database/migrations/runCommitted.ts';
import { withClient } from '../../src/database/pool/transactions.ts';

test.each(['9.6.24', '13.0', '14.23 (Debian 14.23-1)', '14beta2'])('PostgreSQL %s is named as too old', (version) => {
  expect(versionProblem(version)).toBe(
    `The server is PostgreSQL ${version}; the service needs 15 to 18. Upgrade it, or name another server in DATABASE_URL.`,
  );
});

test.each(['15.0', '15beta1', '18.4 (Ubuntu 18.4-1)', '19devel'])('PostgreSQL %s is not refused', (version) => {
  expect(versionProblem(version)).toBeNull();
});

test('the server of the tests is not refused', async () => {
  await expect(withClient(process.env.TEST_OWNER_URL ?? '', requireServer)).resolves.toBeUndefined();
});
