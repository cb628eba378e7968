import { Pool, type PoolClient, type QueryConfig } from 'pg';
import { type TransactionSettings, toStatement } from '../../../src/token/settings.ts';

export type Row = Record<string, unknown>;

/** A pool whose statements need not wait for each other. */
export function createPipelinedPool(connectionString: string, max: number): Pool {
  const pool = new Pool({ connectionString, max, pipeline: true });
  pool.on('error', ({ message }) => console.error(message));
  return pool;
}

/** One statement in a transaction of its own under these settings: begin, settings, statement and commit travel together. */
export async function queryPipelined(
  pool: Pool,
  settings: TransactionSettings,
  statement: QueryConfig,
): Promise<Row[]> {
  const client = await pool.connect();
  try {
    return await inOneWrite(client, async () => {
      const begun = client.query('begin');
      const set = client.query(toStatement(settings));
      const result = client.query<Row>(statement);
      const outcomes = await Promise.allSettled([begun, set, result, client.query('commit')]);
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
      return (await result).rows;
    });
  } finally {
    client.release();
  }
}

/** Statements that are queued at once leave in one packet. */
export function inOneWrite<T>(client: PoolClient, queue: () => T): T {
  const { stream } = (client as unknown as { connection: { stream: { cork(): void; uncork(): void } } }).connection;
  stream.cork();
  try {
    return queue();
  } finally {
    stream.uncork();
  }
}
