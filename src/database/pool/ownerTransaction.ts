import type { Pool, PoolClient } from 'pg';
import { rollBack } from './rollBack.ts';

/** Runs `work` in one transaction as the owner: commits its result, rolls back when it throws. */
export async function ownerTransaction<T>(owner: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await owner.connect();
  // A lost connection also fails the statement. Without a listener its event would end the process.
  const ignore = () => undefined;
  client.on('error', ignore);
  let unusable = false;
  try {
    await client.query('begin isolation level read committed');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    unusable = await rollBack(client);
    throw error;
  } finally {
    client.off('error', ignore);
    client.release(unusable);
  }
}
