import type { Worker } from 'node:cluster';
import type { Config } from '../config.ts';
import type { ServerLogins } from '../database/roles/roles.ts';
import { listen } from '../http/server.ts';
import type { Log } from '../log.ts';
import { readWorkerMetrics } from '../observability/metrics/workerMetrics.ts';
import { createResources, lockEmbedded, openServerDatabase, secretKeys } from '../service/openConnections.ts';
import { serveMetrics } from '../service/serveMetrics.ts';
import type { Started } from '../service/service.ts';
import { type WorkerEnd, WorkerFailed } from './followWorker.ts';
import type { WorkerOrder } from './runWorker.ts';
import { WorkerSlots } from './WorkerSlots.ts';

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
