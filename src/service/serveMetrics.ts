import type { HttpServer } from '../http/server.ts';
import { listen } from '../http/server.ts';

/** In Prometheus' text format, version 0.0.4. */
const mediaType = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Serves `GET /metrics` on a port of its own: who may scrape is a matter of the network.
 * Nothing that stands before the public port, a proxy or an ingress, leads there.
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
