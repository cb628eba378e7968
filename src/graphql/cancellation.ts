import type { PoolClient } from 'pg';
import { cancelStatement } from '../database/cancelStatement.ts';

/**
 * Runs something on a connection; when `signal` aborts, PostgreSQL is asked to end the statement. Resolves only when that request
 * was heard, so that it cannot hit the statement of whoever has the connection next.
 */
export async function cancellable<T>(client: PoolClient, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let cancelled: Promise<void> | undefined;
  const cancel = () => {
    cancelled = cancelStatement(client);
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await run();
  } finally {
    signal.removeEventListener('abort', cancel);
    await cancelled;
  }
}
