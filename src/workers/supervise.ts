import type { Worker } from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.ts';
import type { ServerLogins } from '../database/roles/roles.ts';
import { listen } from '../http/server.ts';
import type { Log } from '../log.ts';
import { readWorkerMetrics } from '../observability/metrics.ts';
import { createResources, lockEmbedded, openServerDatabase, secretKeys } from '../service/openConnections.ts';
import { serveMetrics } from '../service/serveMetrics.ts';
import type { Started } from '../service/service.ts';
import { followWorker, type RunningWorker, type WorkerEnd, WorkerFailed } from './followWorker.ts';
import type { WorkerOrder } from './runWorker.ts';

/**
 * Supervises `count` worker processes on one port (node:cluster), and owns the embedded database.
 * It serves no request itself.
 *
 * @param fork starts a process that does what `runWorker` says
 */
export function supervise(config: Config, count: number, fork: () => Worker, log: Log) {
  const resources = createResources();
  const stopping = new AbortController();
  const { signal } = stopping;
  const started = Promise.withResolvers<Started>();
  const failed = Promise.withResolvers<never>();
  const onHopeless = (end: WorkerEnd) => failed.reject(new WorkerFailed(end));
  const slots = new WorkerSlots({ fork, signal, onHopeless, log });

  const opening = (async (): Promise<WorkerOrder | null> => {
    await lockEmbedded(config, resources);
    const port = await findPort(config);
    if (config.metricsPort !== undefined) {
      const shown = await serveMetrics(config.host, config.metricsPort, readWorkerMetrics);
      resources.defer(() => shown.stop(0));
    }
    const url = config.publicUrl ?? `http://localhost:${port}`;
    const keys = await secretKeys(config);
    const { logins, embedded } = await openServerDatabase(config, { url, keys }, log, resources);
    if (signal.aborted) return null;

    const order = orderFor({ ...config, port }, count, logins, keys, embedded?.demo ?? null);
    // The first worker starts alone, so that a fault is logged once.
    await slots.start(order);
    // Each other worker accepts requests when it can serve them, so that a /readyz of any worker holds for all.
    await Promise.all(Array.from({ length: count - 1 }, () => slots.start({ ...order, atOnce: false })));
    started.resolve({ url, explorers: config.explorers, embedded });
    return order;
  })();
  opening.catch((error: unknown) => signal.aborted || failed.reject(error));

  let rolling: Promise<void> = Promise.resolve();
  const rollOnce = async (): Promise<void> => {
    const order = await opening.catch(() => null);
    if (order) await slots.replaceAll(order);
  };

  return {
    /** Resolves when every worker has started; never when that failed or was stopped. */
    started: started.promise,
    /** Rejects when nothing can be served: a worker could not start, and no other serves. */
    failed: failed.promise,
    /** Rolling restart: replaces each worker once its successor serves; stops at one that does not. */
    roll(): void {
      rolling = rolling.then(rollOnce);
    },
    /** Lets the workers finish the requests in flight (at most 8 s), then releases everything. */
    async stop(): Promise<void> {
      stopping.abort();
      // A worker that is just starting stops, too.
      void slots.stop();
      await opening.catch(() => undefined);
      await slots.stop();
      await rolling;
      await resources.disposeAsync();
    },
  };
}

/** Finds a free port for all workers, now and later; a taken port is reported before the start. */
async function findPort({ host, port }: Config): Promise<number> {
  const server = await listen(host, port, () => undefined);
  await server.stop(0);
  return server.port;
}

/** The settings that the workers need; the owner's URL is left out, since they must not have it. */
function orderFor(
  config: Config,
  count: number,
  logins: ServerLogins,
  [current, previous]: readonly [Buffer, ...Buffer[]],
  demo: WorkerOrder['demo'],
): WorkerOrder {
  const database = { kind: 'own', ownerUrl: undefined, ...logins } as const;
  const poolSize = Math.max(2, Math.ceil(config.poolSize / count));
  const keys = { secretKey: Buffer.from(current), secretKeyPrevious: previous && Buffer.from(previous) };
  return { config: { ...config, ...keys, database, poolSize }, demo, atOnce: true };
}

type WorkerSlotsOptions = {
  /** Starts a process that does what `runWorker` says. */
  readonly fork: () => Worker;
  /** Aborts when no worker is to be restarted or replaced any more. */
  readonly signal: AbortSignal;
  /** Called when a worker ends by its configuration and no other runs: another try would end the same way. */
  readonly onHopeless: (end: WorkerEnd) => void;
  readonly log: Log;
};

/** Slots for worker processes: a worker that ends is restarted with exponential backoff, 0.1 s to 10 s. */
class WorkerSlots {
  readonly #options: WorkerSlotsOptions;
  readonly #running = new Set<RunningWorker>();
  readonly #slots: WorkerSlot[] = [];

  constructor(options: WorkerSlotsOptions) {
    this.#options = options;
  }

  /** Adds a slot. @throws {WorkerFailed} when its worker ends before it has started */
  async start(order: WorkerOrder): Promise<void> {
    const slot: WorkerSlot = { worker: this.#runWith(order), waitMs: firstWaitMs / 2 };
    this.#slots.push(slot);
    const end = await Promise.race([slot.worker.started, slot.worker.ended]);
    if (end) throw new WorkerFailed(end);
    this.#occupy(slot.worker, slot, order);
  }

  /** Rolling restart: replaces each worker once its successor serves; stops at one that does not. */
  async replaceAll(order: WorkerOrder): Promise<void> {
    const { signal, log } = this.#options;
    log.info('replacing the workers');
    for (const slot of this.#slots) {
      if (signal.aborted) return;
      if (!(await this.#replace(slot, order))) return log.error('a new worker does not serve; the others stay');
    }
    log.info('the workers are replaced');
  }

  /** Stops the workers that run now, those that are starting included. */
  async stop(): Promise<void> {
    await Promise.all([...this.#running].map((worker) => worker.stop()));
  }

  #runWith(order: WorkerOrder): RunningWorker {
    const worker = followWorker(this.#options.fork(), order);
    this.#running.add(worker);
    void worker.ended.then(() => this.#running.delete(worker));
    return worker;
  }

  #occupy(worker: RunningWorker, slot: WorkerSlot, order: WorkerOrder): void {
    const { signal, onHopeless, log } = this.#options;
    slot.worker = worker;
    void worker.ended.then(async (end) => {
      const isReplaced = () => slot.worker !== worker;
      if (signal.aborted || isReplaced()) return;
      if (end.code === configurationExit && this.#running.size === 0) return onHopeless(end);
      const isCrashLoop = performance.now() - worker.since < steadyMs;
      slot.waitMs = isCrashLoop ? Math.min(2 * slot.waitMs, maxWaitMs) : firstWaitMs;
      log.error({ pid: worker.pid, ...end, waitMs: slot.waitMs }, 'a worker ended; starting another');
      await delay(slot.waitMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted || isReplaced()) return;
      // While other workers answer, a new worker gets no request before it can serve.
      const atOnce = ![...this.#running].some(({ isListening }) => isListening());
      this.#occupy(this.#runWith({ ...order, atOnce }), slot, order);
    });
  }

  async #replace(slot: WorkerSlot, order: WorkerOrder): Promise<boolean> {
    const { signal } = this.#options;
    const next = this.#runWith({ ...order, atOnce: false });
    const deadline = delay(rollTimeoutMs, 'late', { signal, ref: false }).catch(() => 'late');
    const serves = (await Promise.race([next.serving, next.ended, deadline])) === undefined;
    if (!serves) await next.stop();
    else {
      const { worker } = slot;
      this.#occupy(next, slot, order);
      await worker.stop();
    }
    return serves;
  }
}

/** A slot for one worker at a time. */
type WorkerSlot = { worker: RunningWorker; waitMs: number };

const firstWaitMs = 100;
const maxWaitMs = 10_000;
/** If a worker ran for so long, its start was not the reason for its end: the backoff starts again. */
const steadyMs = 60_000;
const rollTimeoutMs = 60_000;

/** EX_CONFIG of sysexits.h: another try would end the same way. */
const configurationExit = 78;
