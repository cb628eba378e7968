import cluster from 'node:cluster';
import type { Config } from '../config.ts';
import type { HttpServer } from '../http/server.ts';
import type { Metrics } from '../observability/metrics/createMetrics.ts';
import { answerSupervisor } from '../observability/metrics/workerMetrics.ts';
import { serveMetrics } from './serveMetrics.ts';

/**
 * Shows this process' metrics where METRICS_PORT says.
 * Those of a worker by way of its supervisor, which shows all workers' on that port with `serveMetrics(host, metricsPort,
 * readWorkerMetrics)`.
 *
 * @returns null when there is nothing to stop
 * @throws {StartupError} when it cannot listen on the address
 */
export async function showMetrics(
  { host, metricsPort }: Pick<Config, 'host' | 'metricsPort'>,
  metrics: Metrics,
): Promise<HttpServer | null> {
  if (metricsPort === undefined) return null;
  metrics.watchProcess();
  if (!cluster.isWorker) return serveMetrics(host, metricsPort, () => metrics.registry.metrics());
  answerSupervisor(metrics.registry);
  return null;
}
