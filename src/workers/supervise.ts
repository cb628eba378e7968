import type { Worker } from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.ts';
import type { ServerLogins } from '../database/roles/authenticator.ts';
import { listen } from '../http/server.ts';
import type { Log } from '../log.ts';
import { readWorkerMetrics } from '../observability/metrics/workerMetrics.ts';
import { lockEmbedded, openServerDatabase } from '../service/openServerDatabase.ts';
import { createResources } from '../service/resources.ts';
import { secretKeys } from '../service/secretKey.ts';
import { serveMetrics } from '../service/serveMetrics.ts';
import type { Started } from '../service/startupBanner.ts';
import { followWorker, type RunningWorker, WorkerFailed } from './followWorker.ts';
import type { WorkerOrder } from './runWorker.ts';

export type Supervisor = {
  /** Resolves when every worker has started; never when that failed or was stopped. */
  readonly started: Promise<Started>;
  /** Rejects when nothing can be served: a worker could not start, and no other serves. */
  readonly failed: Promise<never>;
  /** Rolling restart: replaces each worker once its successor serves; stops at one that does not. */
  roll(): void;
  /** Lets the workers finish the requests in flight (at most 10 s), then releases everything. */
  stop(): Promise<void>;
};

/**
 * Supervises `count` worker processes on one port (node:cluster), and owns the embedded database.
 * It serves no request itself. A worker that ends is restarted with exponential backoff, 0.1 s to 10 s.
 *
 * @param fork starts a process that does what `runWorker` says
 */
export function supervise(config: Config, count: number, fork: () => Worker, log: Log): Supervisor {
  const resources = createResources();
  const stopping = new AbortController();
  const { signal } = stopping;
  const started = Promise.withResolvers<Started>();
  const failed = Promise.withResolvers<never>();
  const running = new Set<RunningWorker>();
  const slots: WorkerSlot[] = [];

  const runWith = (order: WorkerOrder): RunningWorker => {
    const worker = followWorker(fork(), order);
    running.add(worker);
    void worker.ended.then(() => running.delete(worker));
    return worker;
  };

  const occupy = (worker: RunningWorker, slot: WorkerSlot, order: WorkerOrder): void => {
    slot.worker = worker;
    void worker.ended.then(async (end) => {
      const isReplaced = () => slot.worker !== worker;
      if (signal.aborted || isReplaced()) return;
      if (end.code === configurationExit && running.size === 0) return failed.reject(new WorkerFailed(end));
      const isCrashLoop = Date.now() - worker.since < steadyMs;
      slot.waitMs = isCrashLoop ? Math.min(2 * slot.waitMs, maxWaitMs) : firstWaitMs;
      log.error({ pid: worker.pid, ...end, waitMs: slot.waitMs }, 'a worker ended; starting another');
      await delay(slot.waitMs, undefined, { signal }).catch(() => undefined);
      // While other workers serve, a new worker gets no request before it can serve.
      if (!signal.aborted && !isReplaced()) occupy(runWith({ ...order, atOnce: running.size === 0 }), slot, order);
    });
  };

  const start = async (order: WorkerOrder): Promise<void> => {
    const slot: WorkerSlot = { worker: runWith(order), waitMs: firstWaitMs / 2 };
    slots.push(slot);
    const end = await Promise.race([slot.worker.started, slot.worker.ended]);
    if (end) throw new WorkerFailed(end);
    occupy(slot.worker, slot, order);
  };

  const replace = async (slot: WorkerSlot, order: WorkerOrder): Promise<boolean> => {
    const next = runWith({ ...order, atOnce: false });
    const deadline = delay(rollTimeoutMs, 'late', { signal, ref: false }).catch(() => 'late');
    const serves = (await Promise.race([next.serving, next.ended, deadline])) === undefined;
    if (!serves) await next.stop();
    else {
      const { worker } = slot;
      occupy(next, slot, order);
      await worker.stop();
    }
    return serves;
  };

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
    await start(order);
    await Promise.all(Array.from({ length: count - 1 }, () => start(order)));
    started.resolve({ url, explorers: config.explorers, embedded });
    return order;
  })();
  opening.catch((error: unknown) => signal.aborted || failed.reject(error));

  let rolling: Promise<void> = Promise.resolve();
  const rollOnce = async (): Promise<void> => {
    const order = await opening.catch(() => null);
    if (!order) return;
    log.info('replacing the workers');
    for (const slot of slots) {
      if (signal.aborted) return;
      if (!(await replace(slot, order))) return log.error('a new worker does not serve; the others stay');
    }
    log.info('the workers are replaced');
  };

  return {
    started: started.promise,
    failed: failed.promise,
    roll() {
      rolling = rolling.then(rollOnce);
    },
    async stop() {
      stopping.abort();
      // A worker that is just starting stops, too.
      for (const worker of running) void worker.stop();
      await opening.catch(() => undefined);
      await Promise.all([...running].map((worker) => worker.stop()));
      await rolling;
      await resources.disposeAsync();
    },
  };
}

/** One of the `count` slots, each for one worker at a time. */
type WorkerSlot = { worker: RunningWorker; waitMs: number };

const firstWaitMs = 100;
const maxWaitMs = 10_000;
/** If a worker ran for so long, its start was not the reason for its end: the backoff starts again. */
const steadyMs = 60_000;
const rollTimeoutMs = 60_000;

/** EX_CONFIG of sysexits.h: another try would end the same way. */
const configurationExit = 78;

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
