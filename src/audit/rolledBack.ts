import type { Pool, PoolClient } from 'pg';

/** Runs `work` in a transaction that is always rolled back. */
export async function rolledBack<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    return await work(client);
  } finally {
    // Without its connection the transaction is over, too.
    const lost = await client.query('rollback').then(
      () => false,
      () => true,
    );
    client.release(lost);
  }
}
