import cluster from 'node:cluster';
import { randomUUID } from 'node:crypto';
import { AggregatorRegistry, Gauge, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';

/** A worker's answer: a whole registry in prom-client's form. */
type Snapshot = MetricObjectWithValues<MetricValue<string>>[];
type Asked = { readonly metricsAsked: string };
type Answered = { readonly metricsAnswer: string; readonly snapshot: Snapshot };

/** A worker that hangs does not block the others' metrics. */
const timeoutMs = 1000;

/** In a worker of node:cluster: answers the supervisor with this registry. */
export function answerSupervisor(registry: Registry): void {
  process.on('message', async (message: Partial<Asked> | null) => {
    if (typeof message?.metricsAsked !== 'string') return;
    const snapshot = (await registry.getMetricsAsJSON()) as Snapshot;
    // The worker may have lost its supervisor meanwhile.
    if (process.connected) process.send?.({ metricsAnswer: message.metricsAsked, snapshot } satisfies Answered);
  });
}

/**
 * In the supervisor: the metrics of all workers that answer in time, as text, and how many answered.
 * Prom-client's own `clusterMetrics` fails as a whole if one of them does not answer.
 */
export async function readWorkerMetrics(): Promise<string> {
  const asked = randomUUID();
  const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected());
  const snapshots: Snapshot[] = [];
  const all = Promise.withResolvers<void>();
  const collect = (_worker: unknown, message: Partial<Answered> | null) => {
    if (message?.metricsAnswer !== asked || !message.snapshot) return;
    snapshots.push(message.snapshot);
    if (snapshots.length === workers.length) all.resolve();
  };

  cluster.on('message', collect);
  const deadline = setTimeout(all.resolve, timeoutMs);
  for (const worker of workers) worker?.send({ metricsAsked: asked } satisfies Asked, () => undefined);
  if (workers.length > 0) await all.promise;
  clearTimeout(deadline);
  cluster.off('message', collect);
  const registry = AggregatorRegistry.aggregate(snapshots);
  const help = 'Worker processes that answered this scrape';
  new Gauge({ name: 'graph_workers', help, registers: [registry] }).set(snapshots.length);
  return registry.metrics();
}
