import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientBase, type ClientConfig, type Pool, type PoolClient } from 'pg';
import { evictPoolOf } from './pools.ts';
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

/** Rolls back. @returns whether the connection is lost, which ends the transaction, too */
export const rollBack = (client: ClientBase): Promise<boolean> =>
  client.query('rollback').then(
    () => false,
    () => true,
  );

/** Runs `work` in a transaction that is always rolled back. */
export async function rolledBack<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    // PostgreSQL estimates a high cost for views of the catalogue, and would compile them for longer than they run.
    await client.query('begin; set local jit = off');
    return await work(client);
  } finally {
    client.release(await rollBack(client));
  }
}

/** Works on one connection outside of any pool. If the connection is lost, the statement fails. */
export async function withClient<T>(config: string | ClientConfig, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(config);
  // Without a listener the event would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    // `end()` may hang if the server is gone.
    await Promise.race([client.end().catch(() => undefined), delay(1000, undefined, { ref: false })]);
  }
}

/** The row of a statement that always returns one, such as `insert … returning`. */
export function onlyRow<T>({ rows }: { rows: T[] }): T {
  const [row] = rows;
  if (row === undefined) throw new Error('A statement that always has a row had none');
  return row;
}
