import { randomBytes, randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { createPool } from '../../../src/database/pool/pools.ts';
import { createLog } from '../../../src/log.ts';
import { createThrottle, type Throttle } from '../../../src/oauth/throttle.ts';
import { createTestDatabase, preparesStatements, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let pool: Pool;
let throttle: Throttle;
beforeAll(async () => {
  database = await createTestDatabase();
  const config = { poolSize: 4, poolWaitMs: 2000, statementTimeoutMs: 5000, preparedStatements: preparesStatements() };
  pool = createPool(database.authUrl, config, createLog('silent'));
  const limits = { requestsPerMinute: 100, failuresPerMinute: 100, failuresPerAccount: 3 };
  throttle = createThrottle(pool, randomBytes(32), limits);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const address = '203.0.113.1';

/** Whether one more try at the account is refused; else it fails. */
async function isLocked(account: string): Promise<boolean> {
  try {
    expect(await throttle.tryAccount(account, address, async () => null)).toBeNull();
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: 'too_many_requests', status: 429 });
    return true;
  }
}

test('many tries at once are no more than one after the other', async () => {
  const account = randomUUID();

  const locks = await Promise.all(Array.from({ length: 9 }, () => isLocked(account)));

  expect(locks.filter((locked) => !locked)).toHaveLength(3);
});

test('what could not be tried does not count', async () => {
  const account = randomUUID();
  const overload = () => Promise.reject(new Error('overload'));

  for (let time = 0; time < 5; time++) {
    await expect(throttle.tryAccount(account, address, overload)).rejects.toThrow('overload');
  }

  expect([await isLocked(account), await isLocked(account), await isLocked(account)]).toEqual([false, false, false]);
  expect(await isLocked(account)).toBe(true);
});

test('nothing is tried of an account that is locked', async () => {
  const account = randomUUID();
  let tried = 0;
  const attempt = async () => {
    tried++;
    return 'in';
  };
  expect(await throttle.tryAccount(account, address, attempt)).toBe('in');

  for (let time = 0; time < 3; time++) expect(await isLocked(account)).toBe(false);

  await expect(throttle.tryAccount(account, address, attempt)).rejects.toMatchObject({ status: 429 });
  expect(tried).toBe(1);
});
