import type { Precondition } from '../../database/driver/statement.ts';
import { DatabaseUnavailable } from '../../database/pool/unavailable.ts';
import type { Encoding } from '../../http/compression.ts';
import type { Log } from '../../log.ts';
import type { ThreadState } from '../../observability/metrics/createMetrics.ts';
import type { ServerName } from '../../replica/watchReplica.ts';
import { callerPath, withoutPermit } from '../../scheduling/caller.ts';
import { createPermits } from '../../scheduling/permits.ts';
import type { Answer } from '../execution/answer.ts';
import type { Operation } from '../execution/operation.ts';
import type { OffloadSettings } from './messages.ts';
import { OffloadThread } from './OffloadThread.ts';

export type Offload = {
  /** @param encoding of the answer; null when its text is needed */
  execute(operation: Operation, encoding: Encoding | null): Promise<Answer>;
  /** Replaces the connections that were made before. */
  reconnect(server: ServerName): void;
  /** The thread's state a few seconds ago; null while the thread is not needed. */
  state(): ThreadState | null;
  stop(): Promise<void>;
};

/**
 * Offloading: the offload thread executes expensive operations, which would block this event loop.
 * Node.js plans an operation and writes its answer in one tick. Long texts, which are encoded there as well, make V8 collect the whole heap
 * of their thread. The offload thread starts with the first such operation and has its own connections. Operations wait in a fair queue as
 * long as a statement may take, and then fail with {@link DatabaseUnavailable}. With 64 waiting, others fail at once, unless their tenant
 * has less than its share of these.
 */
export function createOffload(settings: OffloadSettings, log: Log): Offload {
  const thread = new OffloadThread(settings, log);
  const permits = createPermits({
    maxHeld: maxConcurrent,
    maxWaiting: maxQueued,
    waitMs: settings.config.statementTimeoutMs,
    refusal: (cause) => new DatabaseUnavailable({ cause }),
  });

  return {
    execute: (operation, encoding) =>
      withoutPermit(() => {
        const { token, signal } = operation;
        const work = (proof: Precondition | null) =>
          permits.run(callerPath(), () => thread.execute(operation, proof, encoding), signal);
        return token ? token.withTokenCheck(work) : work(null);
      }),
    reconnect: (server) => thread.reconnect(server),
    state: () => thread.state,
    stop: () => thread.stop(),
  };
}

/** While one operation waits for the database, another can be planned; a third would only delay both. */
const maxConcurrent = 2;
/** A waiting operation keeps its document, whose tree takes up to 1 MB. */
const maxQueued = 64;

/** Planning takes longer with more fields and nested connections, the answer with more rows and values. */
export function isExpensive({ prepared: { size }, cost }: Operation): boolean {
  const isExpensiveToPlan = size.fields > 200 || size.depth * size.connections > 500;
  return isExpensiveToPlan || cost.rows > 3000 || cost.values > 5000;
}
