import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isErrno } from '../isErrno.ts';
import { StartupError } from '../startupError.ts';

export type HttpServer = {
  /** The port that is listened on, also when any free one was asked for. */
  port: number;
  /** Stops accepting, lets what is in flight finish for at most `drainMs`, then closes what is left. */
  stop(drainMs: number): Promise<void>;
};

/**
 * Listens, with every wait for a client bounded: 10 s for the headers, 30 s for a whole request, 60 s without a byte in
 * either direction.
 *
 * @throws {StartupError} when the address cannot be had
 */
export async function listen(host: string, port: number, listener: RequestListener): Promise<HttpServer> {
  const server = createServer({ connectionsCheckingInterval: 2000 }, listener);
  server.headersTimeout = 10_000;
  server.requestTimeout = 30_000;
  server.timeout = 60_000;

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explain(error, host, port)));
    server.listen(port, host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, stop: (drainMs) => stop(server, drainMs) };
}

async function stop(server: Server, drainMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A kept-alive connection becomes idle only when its request in flight is answered.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const deadline = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(deadline);
}

function explain(error: Error, host: string, port: number): Error {
  if (isErrno(error, 'EADDRINUSE')) {
    return new StartupError(`Port ${port} of ${host} is used by another program; set PORT to a free one.`);
  }
  if (isErrno(error, 'EACCES')) return new StartupError(`This user may not listen on port ${port}; set PORT.`);
  if (isErrno(error, 'EADDRNOTAVAIL') || isErrno(error, 'ENOTFOUND')) {
    return new StartupError(`HOST ${host} is no address of this machine.`);
  }
  return error;
}
