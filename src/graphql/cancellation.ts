import { cancelStatement } from '../database/cancelStatement.ts';

/**
 * The same `withPgClient`, but when `signal` aborts, PostgreSQL is asked to end the statements of the operation. A connection
 * goes back to the pool only when that request was heard, so that it cannot hit somebody else's statement.
 */
export function cancellable(withPgClient: WithPgClient, signal: AbortSignal): WithPgClient {
  return (settings, callback) =>
    withPgClient(settings, async (client) => {
      signal.throwIfAborted();
      const { rawClient } = client;
      let cancelled: Promise<void> | undefined;
      const cancel = () => {
        cancelled = cancelStatement(rawClient);
      };
      signal.addEventListener('abort', cancel, { once: true });
      try {
        return await callback(client);
      } finally {
        signal.removeEventListener('abort', cancel);
        await cancelled;
      }
    });
}

type WithPgClient = Grafast.Context['withPgClient'];
