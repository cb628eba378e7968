import type { PoolClient } from 'pg';
import { cancelStatement } from './cancelStatement.ts';

/**
 * Statement cancellation: runs `run` on a connection, and sends a cancel request when `signal` aborts.
 * Resolves only after PostgreSQL has processed that request, so that it cannot cancel the connection's next statement.
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
