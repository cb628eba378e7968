import type { Pool, PoolClient } from 'pg';
import { rollBack } from './rollBack.ts';

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
