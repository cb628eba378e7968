import type { Pool, PoolClient } from 'pg';
import { evictPoolOf } from './pools.ts';
import { rollBack } from './rollBack.ts';
import { isReadOnly } from './unavailable.ts';

/** Runs `work` in one transaction, which `begin` begins: commits its result, rolls back when it throws. */
export async function runTransaction<T>(
  pool: Pool,
  begin: (client: PoolClient) => Promise<unknown>,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let unusable = false;
  try {
    await begin(client);
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    if (isReadOnly(error)) evictPoolOf(client);
    unusable = await rollBack(client);
    throw error;
  } finally {
    client.release(unusable);
  }
}

/**
 * A transaction as the owner, for what changes an organization.
 * No token is checked in it, so that the cut-over of a move would not wait for it: it shares a lock that each cut-over takes alone.
 */
export const ownerTransaction = <T>(owner: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> =>
  runTransaction(owner, (client) => client.query(beginAsOwner), work);

/** The advisory lock of all transactions of the owner, as SQL. */
export const lockOfOwners = `hashtextextended('transactions of the owner', 0)`;

const beginAsOwner = `begin isolation level read committed; select pg_advisory_xact_lock_shared(${lockOfOwners})`;
