import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createFairQueue, type FairQueue } from 'fair-queue';
import type { Precondition } from '../../database/driver/driver.ts';
import { DatabaseUnavailable } from '../../database/pool/unavailable.ts';
import type { Encoding } from '../../http/compression.ts';
import type { Log } from '../../log.ts';
import type { ThreadState } from '../../observability/metrics.ts';
import { traceHeaders } from '../../observability/traced.ts';
import type { ServerName } from '../../replica/watchReplica.ts';
import { callerPath, refusedAs, withoutPermit } from '../../scheduling/caller.ts';
import { systemClock } from '../../scheduling/clock.ts';
import { InvalidTokenError } from '../../token/accessTokens.ts';
import { publishUsage } from '../../token/transaction.ts';
import type { Answer } from '../answer.ts';
import { DocumentError, limitExceeded } from '../document/documentError.ts';
import { isQueryOf, type Operation } from '../operation.ts';
import type { OffloadMessage, OffloadRefusal, OffloadRequest, OffloadSettings } from './messages.ts';

/**
 * Offloading: the offload thread executes expensive operations, which would block this event loop.
 * Node.js plans an operation and writes its answer in one tick. Long texts, which are encoded there as well, make V8 collect the whole heap
 * of their thread. The offload thread starts with the first such operation, and again after it has ended, and has its own connections.
 * Operations wait in a fair queue as long as a statement may take, and then fail with {@link DatabaseUnavailable}. With 64 waiting, others
 * fail at once, unless their tenant has less than its share of these.
 */
export class OffloadThread {
  readonly #settings: OffloadSettings;
  readonly #queue: FairQueue;
  readonly #log: Log;
  readonly #relayed: Log;
  readonly #pending = new Map<number, PromiseWithResolvers<Answer>>();
  #worker: Worker | null = null;
  #state: ThreadState | null = null;
  #lastId = 0;

  constructor(settings: OffloadSettings, log: Log) {
    this.#settings = settings;
    this.#log = log;
    const { statementTimeoutMs } = settings.config;
    this.#queue = createFairQueue(
      { slots: maxConcurrent, burstMs, maxWaiting: maxQueued, waitMs: statementTimeoutMs },
      systemClock,
    );
    // The offload thread has serialized its log lines already.
    const asItIs = (described: unknown) => described;
    this.#relayed = log.child({}, { serializers: { error: asItIs, requestId: asItIs } });
  }

  /** Its state a few seconds ago; null while it is not needed. */
  get state(): ThreadState | null {
    return this.#state;
  }

  /** @param encoding of the answer; null when its text is needed */
  execute(operation: Operation, encoding: Encoding | null): Promise<Answer> {
    const { token, signal } = operation;
    const piece = { path: callerPath(), costMs, signal };
    const work = (tokenCheck: Precondition | null) =>
      this.#queue
        .run(piece, () => this.#send(operation, tokenCheck, encoding))
        .catch(refusedAs((cause) => new DatabaseUnavailable({ cause })));
    const isRequired = !isQueryOf(operation.prepared);
    return withoutPermit(() => (token ? token.withTokenCheck(work, isRequired) : work(null)));
  }

  /** Replaces the connections that it has made before. */
  reconnect(server: ServerName): void {
    this.#worker?.postMessage({ reconnect: server } satisfies OffloadRequest);
  }

  async stop(): Promise<void> {
    const thread = this.#worker;
    if (!thread) return;
    // The thread has to export its remaining spans.
    if (this.#settings.config.tracing) {
      const ended = once(thread, 'exit');
      thread.postMessage({ end: true } satisfies OffloadRequest);
      await Promise.race([ended, delay(3000, undefined, { ref: false })]);
    }
    await thread.terminate();
  }

  #send(
    { prepared, coerced: _coerced, signal, token, ...operation }: Operation,
    tokenCheck: Precondition | null,
    encoding: Encoding | null,
  ): Promise<Answer> {
    this.#worker ??= this.#start();
    const thread = this.#worker;
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<Answer>();
    this.#pending.set(id, answer);
    const { query, operation: node } = prepared;
    const operationName = node.name?.value ?? null;
    thread.postMessage({
      ...operation,
      claims: token?.claims ?? null,
      tokenCheck,
      id,
      query,
      operationName,
      encoding,
      trace: traceHeaders(),
    } satisfies OffloadRequest);
    signal.addEventListener('abort', () => thread.postMessage({ id, aborted: true } satisfies OffloadRequest));
    return answer.promise;
  }

  #start(): Worker {
    const started = new Worker(new URL('./offloadWorker.ts', import.meta.url), {
      workerData: this.#settings,
      resourceLimits: { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 24 },
    });
    started.on('message', (message: OffloadMessage) => this.#receive(message));
    started.on('error', (error) => this.#log.error({ error }, 'the offload thread failed'));
    started.on('exit', () => {
      this.#worker = null;
      this.#state = null;
      for (const operation of this.#pending.values()) operation.reject(new DatabaseUnavailable());
      this.#pending.clear();
    });
    // The thread must not keep alive a process that has nothing else to do.
    started.unref();
    return started;
  }

  #receive(message: OffloadMessage): void {
    if ('line' in message) relay(this.#relayed, message.line);
    else if ('used' in message) message.used.forEach(publishUsage);
    else if ('state' in message) this.#state = message.state;
    else {
      const operation = this.#pending.get(message.id);
      this.#pending.delete(message.id);
      if ('answer' in message) operation?.resolve(message.answer);
      else if ('refused' in message) operation?.reject(this.#refusalOf(message.refused));
      else operation?.reject(new Error('The offload thread failed; its log line says why'));
    }
  }

  #refusalOf(refused: OffloadRefusal): Error {
    const { limits } = this.#settings.config;
    switch (refused) {
      case 'rows':
      case 'bytes':
        return new DocumentError([limitExceeded(refused, limits[refused])]);
      case 'token':
        return new InvalidTokenError();
      case 'unavailable':
        return new DatabaseUnavailable();
    }
  }
}

/** While one operation waits for the database, another can be planned; a third would only delay both. */
const maxConcurrent = 2;
/** The estimate of what an operation takes, corrected by what it took. */
const costMs = 100;
/** Tenants whose operations have taken about as long are served in the order of arrival. */
const burstMs = 100;
/** A waiting operation keeps its document, whose tree takes up to 1 MB. */
const maxQueued = 64;

/** Writes a log line of the offload thread, with its level and fields. */
function relay(log: Log, line: string): void {
  const { level, time: _time, msg, ...fields } = JSON.parse(line);
  const method = log.levels.labels[level] as 'error' | undefined;
  if (method) log[method](fields, msg);
}
