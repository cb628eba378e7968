import cluster from 'node:cluster';
import type { Config } from '../config.ts';
import { type HttpServer, listen } from '../http/server.ts';
import { answerSupervisor, type Metrics } from '../observability/metrics.ts';

/**
 * Shows this process' metrics on METRICS_PORT.
 * A worker sends its metrics to its supervisor, which shows those of all workers on that port.
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

/** Prometheus' text format, version 0.0.4. */
const mediaType = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Serves `GET /metrics` on a port of its own, to which the network must limit the access.
 * A proxy or an ingress in front of the public port does not lead there.
 *
 * @param read the text of all metrics
 * @throws {StartupError} when it cannot listen on the address
 */
export function serveMetrics(host: string, port: number, read: () => Promise<string>): Promise<HttpServer> {
  return listen(host, port, async (request, response) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (request.url?.split('?', 1)[0] !== '/metrics' || !isRead) {
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Only GET /metrics is here.\n');
      return;
    }
    try {
      const text = await read();
      response.writeHead(200, { 'Content-Type': mediaType, 'Cache-Control': 'no-store' }).end(text);
    } catch {
      response.writeHead(503, { 'Content-Type': 'text/plain' }).end('The metrics cannot be read now.\n');
    }
  });
}
