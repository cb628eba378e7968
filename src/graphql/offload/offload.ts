import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { OperationDefinitionNode } from 'postgraphile/graphql';
import type { Precondition } from '../../database/driver/statement.ts';
import { DatabaseUnavailable } from '../../database/pool/unavailable.ts';
import type { Encoding } from '../../http/compression.ts';
import type { Log } from '../../log.ts';
import type { ThreadState } from '../../observability/metrics/createMetrics.ts';
import { traceHeaders } from '../../observability/tracing/traced.ts';
import type { ServerName } from '../../replica/watchReplica.ts';
import { callerPath, withoutPermit } from '../../scheduling/caller.ts';
import { createPermits } from '../../scheduling/permits.ts';
import { InvalidTokenError } from '../../token/accessTokens.ts';
import { publishUse } from '../../token/uses.ts';
import { DocumentError } from '../document/document.ts';
import { limitExceeded } from '../document/measureOperations.ts';
import type { Answer } from '../execution/answer.ts';
import type { Operation } from '../execution/operation.ts';
import type { OffloadMessage, OffloadRefusal, OffloadRequest, OffloadSettings } from './messages.ts';

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
  // The offload thread has serialized its log lines already.
  const asItIs = (described: unknown) => described;
  const relayed = log.child({}, { serializers: { error: asItIs, requestId: asItIs } });
  const permits = createPermits({
    maxHeld: maxConcurrent,
    maxWaiting: maxQueued,
    waitMs: settings.config.statementTimeoutMs,
    refusal: (cause) => new DatabaseUnavailable({ cause }),
  });
  const pending = new Map<number, PromiseWithResolvers<Answer>>();
  let worker: Worker | null = null;
  let state: ThreadState | null = null;
  let lastId = 0;

  const refusals: Record<OffloadRefusal, () => Error> = {
    rows: () => new DocumentError([limitExceeded('rows', settings.config.limits.rows)]),
    bytes: () => new DocumentError([limitExceeded('bytes', settings.config.limits.bytes)]),
    token: () => new InvalidTokenError(),
    unavailable: () => new DatabaseUnavailable(),
  };

  const start = (): Worker => {
    const started = new Worker(new URL('./offloadWorker.ts', import.meta.url), {
      workerData: settings,
      resourceLimits: { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 24 },
    });
    started.on('message', (message: OffloadMessage) => {
      if ('line' in message) return relay(relayed, message.line);
      if ('used' in message) return message.used.forEach(publishUse);
      if ('state' in message) {
        state = message.state;
        return;
      }
      const operation = pending.get(message.id);
      pending.delete(message.id);
      if ('answer' in message) operation?.resolve(message.answer);
      else if ('refused' in message) operation?.reject(refusals[message.refused]());
      else operation?.reject(new Error('The second thread failed; its log line says why'));
    });
    started.on('error', (error) => log.error({ error }, 'the second thread failed'));
    started.on('exit', () => {
      worker = null;
      state = null;
      for (const operation of pending.values()) operation.reject(new DatabaseUnavailable());
      pending.clear();
    });
    // The thread must not keep alive a process that has nothing else to do.
    started.unref();
    return started;
  };

  const send = (
    { prepared, coerced: _coerced, signal, token, ...operation }: Operation,
    proof: Precondition | null,
    encoding: Encoding | null,
  ): Promise<Answer> => {
    worker ??= start();
    const thread = worker;
    const id = ++lastId;
    const answer = Promise.withResolvers<Answer>();
    pending.set(id, answer);
    const { query, operation: node } = prepared;
    const operationName = node.name?.value ?? null;
    const variables = declaredOf(operation.variables, node);
    thread.postMessage({
      ...operation,
      claims: token?.claims ?? null,
      proof,
      variables,
      id,
      query,
      operationName,
      encoding,
      trace: traceHeaders(),
    } satisfies OffloadRequest);
    signal.addEventListener('abort', () => thread.postMessage({ id, aborted: true } satisfies OffloadRequest));
    return answer.promise;
  };

  return {
    execute: (operation, encoding) =>
      withoutPermit(() => {
        const { token, signal } = operation;
        const work = (proof: Precondition | null) =>
          permits.run(callerPath(), () => send(operation, proof, encoding), signal);
        return token ? token.withTokenCheck(work) : work(null);
      }),
    reconnect: (server) => worker?.postMessage({ reconnect: server } satisfies OffloadRequest),
    state: () => state,
    async stop(): Promise<void> {
      const thread = worker;
      if (!thread) return;
      // The thread has to export its remaining spans.
      if (settings.config.tracing) {
        const ended = once(thread, 'exit');
        thread.postMessage({ end: true } satisfies OffloadRequest);
        await Promise.race([ended, delay(3000, undefined, { ref: false })]);
      }
      await thread.terminate();
    },
  };
}

/** While one operation waits for the database, another can be planned; a third would only delay both. */
const maxConcurrent = 2;
/** Each keeps its document, whose tree takes up to 1 MB. */
const maxQueued = 64;

/** The declared variables. Others were not checked, and may be nested too deep for a message. */
function declaredOf(variables: Operation['variables'], { variableDefinitions = [] }: OperationDefinitionNode) {
  const names = new Set(variableDefinitions.map(({ variable }) => variable.name.value));
  return Object.fromEntries(Object.entries(variables).filter(([name]) => names.has(name)));
}

/** Planning takes longer with more fields and nested connections, the answer with more rows and values. */
export function isExpensive({ prepared: { size }, cost }: Operation): boolean {
  const isExpensiveToPlan = size.fields > 200 || size.depth * size.connections > 500;
  return isExpensiveToPlan || cost.rows > 3000 || cost.values > 5000;
}

/** Writes a log line of the offload thread, with its level and fields. */
function relay(log: Log, line: string): void {
  const { level, time: _time, msg, ...fields } = JSON.parse(line);
  const method = log.levels.labels[level] as 'error' | undefined;
  if (method) log[method](fields, msg);
}
