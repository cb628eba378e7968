import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { OperationDefinitionNode } from 'postgraphile/graphql';
import type { Config } from '../config.ts';
import type { PoolSettings } from '../database/pools.ts';
import type { ServerName } from '../database/replica.ts';
import { DatabaseUnavailable } from '../database/unavailable.ts';
import type { Log } from '../log.ts';
import { callerPath, withoutPermit } from '../scheduling/caller.ts';
import { createPermits } from '../scheduling/permits.ts';
import { InvalidTokenError } from '../token/accessTokens.ts';
import type { Claims } from '../token/claims.ts';
import type { Precondition } from '../token/implicitTransaction.ts';
import { traceHeaders } from '../tracing/traced.ts';
import { DocumentRefused } from './document.ts';
import type { Answer, Operation } from './execution.ts';
import { limitExceeded } from './limits.ts';

/** What the other thread is started with. */
export type OffloadSettings = {
  readonly config: PoolSettings & Pick<Config, 'limits' | 'fusion' | 'logLevel' | 'slowMs' | 'tracing' | 'replicaUrl'>;
  readonly authUrl: string;
  readonly keys: readonly [Uint8Array, ...Uint8Array[]];
};

/** What goes to the other thread; it prepares the document anew. */
export type OffloadedOperation = Omit<Operation, 'prepared' | 'signal' | 'token'> & {
  readonly id: number;
  readonly claims: Claims | null;
  /** What has to be proven of the claims there. */
  readonly proof: Precondition | null;
  readonly query: string;
  readonly operationName: string | null;
  /** Which trace it is a part of, in the headers of W3C Trace Context. */
  readonly trace: Readonly<Record<string, string>>;
};

/** Or that an operation's client has gone away, that its connections are of no use any more, or that it shall end. */
export type OffloadRequest =
  | OffloadedOperation
  | { readonly id: number; readonly aborted: true }
  | { readonly reconnect: ServerName }
  | { readonly end: true };

type Refused = 'rows' | 'bytes' | 'token' | 'away';

/** How the thread is. */
export type OffloadState = {
  readonly pool: { readonly size: number; readonly idle: number; readonly waiting: number };
  /** The 99th percentile since the state before. */
  readonly eventLoopLagSeconds: number;
};

/** What comes back: an answer, a refusal for its rows, its token or a database that is away, a failure, a line for the log, or every few seconds how the thread is. */
export type OffloadMessage =
  | { readonly id: number; readonly answer: Answer }
  | { readonly id: number; readonly refused: Refused }
  | { readonly id: number; readonly failed: true }
  | { readonly line: string }
  | { readonly state: OffloadState };

export type Offload = {
  execute(operation: Operation): Promise<Answer>;
  /** Connections that were made before are of no use any more. */
  reconnect(server: ServerName): void;
  /** As it was a few seconds ago; null while the thread is not needed. */
  state(): OffloadState | null;
  stop(): Promise<void>;
};

/**
 * A second thread for operations that take long to plan or return much, both of which Node.js does in one go: while it is busy,
 * this thread goes on answering. It starts with the first such operation and has connections of its own. Operations wait for
 * their turn, in fair queues, as long as a statement may take, and then fail with {@link DatabaseUnavailable}; so do
 * those that find 64 waiting, unless their tenant has less than its share of these.
 */
export function createOffload(settings: OffloadSettings, log: Log): Offload {
  // What the other thread logs was described there.
  const asItIs = (described: unknown) => described;
  const relayed = log.child({}, { serializers: { error: asItIs, requestId: asItIs } });
  const permits = createPermits({
    maxHeld: mostAtOnce,
    maxWaiting: mostWaiting,
    waitMs: settings.config.statementTimeoutMs,
    refusal: (cause) => new DatabaseUnavailable({ cause }),
  });
  const pending = new Map<number, PromiseWithResolvers<Answer>>();
  let worker: Worker | null = null;
  let state: OffloadState | null = null;
  let lastId = 0;

  const refusals: Record<Refused, () => Error> = {
    rows: () => new DocumentRefused([limitExceeded('rows', settings.config.limits.rows)]),
    bytes: () => new DocumentRefused([limitExceeded('bytes', settings.config.limits.bytes)]),
    token: () => new InvalidTokenError(),
    away: () => new DatabaseUnavailable(),
  };

  const start = (): Worker => {
    const started = new Worker(new URL('./offloadWorker.ts', import.meta.url), {
      workerData: settings,
      resourceLimits: { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 24 },
    });
    started.on('message', (message: OffloadMessage) => {
      if ('line' in message) return relay(relayed, message.line);
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
    // It must not keep a process alive that has nothing else to do.
    started.unref();
    return started;
  };

  const send = ({ prepared, signal, token, ...operation }: Operation, proof: Precondition | null): Promise<Answer> => {
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
      trace: traceHeaders(),
    } satisfies OffloadRequest);
    signal.addEventListener('abort', () => thread.postMessage({ id, aborted: true } satisfies OffloadRequest));
    return answer.promise;
  };

  return {
    execute: (operation: Operation): Promise<Answer> =>
      withoutPermit(() => {
        const { token, signal } = operation;
        const work = (proof: Precondition | null) => permits.run(callerPath(), () => send(operation, proof), signal);
        return token ? token.withTokenCheck(work) : work(null);
      }),
    reconnect: (server) => worker?.postMessage({ reconnect: server } satisfies OffloadRequest),
    state: () => state,
    async stop(): Promise<void> {
      const thread = worker;
      if (!thread) return;
      // It has to send what is left of its traces.
      if (settings.config.tracing) {
        const ended = once(thread, 'exit');
        thread.postMessage({ end: true } satisfies OffloadRequest);
        await Promise.race([ended, delay(3000, undefined, { ref: false })]);
      }
      await thread.terminate();
    },
  };
}

/** While one waits for the database, the other can be planned; more would only keep each other waiting. */
const mostAtOnce = 2;
/** Each keeps its document, whose tree takes up to 1 MB. */
const mostWaiting = 64;

/** Of the variables those that the operation knows: others were never checked, and may be too deep for a message. */
function declaredOf(variables: Operation['variables'], { variableDefinitions = [] }: OperationDefinitionNode) {
  const names = new Set(variableDefinitions.map(({ variable }) => variable.name.value));
  return Object.fromEntries(Object.entries(variables).filter(([name]) => names.has(name)));
}

/** Planning takes time with fields and with connections below connections; writing an answer with its rows, and with their values. */
export function isLong({ prepared: { size }, most }: Operation): boolean {
  const isLongToPlan = size.fields > 200 || size.depth * size.connections > 500;
  return isLongToPlan || most.rows > 3000 || most.values > 5000;
}

/** A line of the other thread's log, with its level and fields. */
function relay(log: Log, line: string): void {
  const { level, time: _time, msg, ...fields } = JSON.parse(line);
  const method = log.levels.labels[level] as 'error' | undefined;
  if (method) log[method](fields, msg);
}
