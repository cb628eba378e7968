import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { hasCode } from '../errors/hasCode.ts';
import { StartupError } from '../errors/startupError.ts';
import { fieldsOf } from '../observability/requestFields.ts';
import { watchArrivals } from './connection/arrival.ts';
import { serializePipelined } from './connection/pipelining.ts';
import { limitSendBuffers } from './connection/sendBuffers.ts';

export type HttpServer = {
  /** The port that is listened on, also when any free one was asked for. */
  port: number;
  /**
   * Connection draining: requests in flight may finish for `drainMs`; then connections are closed.
   * For `preStopMs` new requests are still served, with `Connection: close`, so that clients connect anew elsewhere: a client that is
   * connecting or sending at this moment would not know whether its request was read. The delay is skipped without clients.
   */
  stop(drainMs: number, preStopMs?: number): Promise<void>;
};

/** Timeouts of a connection, in milliseconds. */
export const connectionTimeouts = {
  headersMs: 10_000,
  /** For a whole request. */
  requestMs: 30_000,
  /** Without a byte in either direction. */
  idleMs: 60_000,
  /** Between two requests: longer than the proxies in front keep theirs, so that it is they who close. */
  keepAliveMs: 65_000,
  /**
   * For what is left of a body that has its answer.
   * At once would be too soon: what is still on its way would reset the connection before the client has read its answer.
   */
  lateBodyMs: 2000,
  /** How often the first two are checked. */
  checkMs: 2000,
};

/**
 * An HTTP server that bounds the cost of a client: by `timeouts`, 16 KiB of headers, one request at a
 * time, 64 MB of send buffers of all clients together, and `maxConnections`.
 *
 * @throws {StartupError} when the address cannot be had
 */
export async function listen(
  host: string,
  port: number,
  listener: RequestListener,
  maxConnections = Number.MAX_SAFE_INTEGER,
  timeouts = connectionTimeouts,
): Promise<HttpServer> {
  // By connection, so that an answer adds and removes nothing: a set that does is copied again and again, and its old copies, which are
  // collected rarely, keep the responses that they hold from being collected soon.
  const inFlight = new Map<Socket, ServerResponse | null>();
  let stopping = false;
  const limitSendBuffer = limitSendBuffers(maxUnsentBytes, unsentGraceMs);
  const answer: RequestListener = (request, response) => {
    const { socket } = request;
    inFlight.set(socket, response);
    response.once('close', () => {
      if (inFlight.get(socket) === response) inFlight.set(socket, null);
      if (!request.complete) setTimeout(() => request.complete || socket.destroy(), timeouts.lateBodyMs).unref();
    });
    limitSendBuffer(response);
    if (stopping) response.setHeader('Connection', 'close');
    listener(request, response);
  };
  const server = createServer({ connectionsCheckingInterval: timeouts.checkMs }, (request, response) => {
    fieldsOf(response).arrivedAt = arrivalOn(request.socket);
    serializePipelined(request.socket, response, () => answer(request, response));
  });
  const arrivalOn = watchArrivals(server);
  server.on('connection', (socket) => {
    inFlight.set(socket, null);
    socket.once('close', () => inFlight.delete(socket));
  });
  server.headersTimeout = timeouts.headersMs;
  server.requestTimeout = timeouts.requestMs;
  server.timeout = timeouts.idleMs;
  server.keepAliveTimeout = timeouts.keepAliveMs;
  // With several processes on one port: an excess connection is dropped and not passed to another process, which may be as full.
  Object.assign(server, { maxConnections, dropMaxConnection: true });

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explain(error, host, port)));
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: (drainMs, preStopMs = 0) => {
      stopping = true;
      for (const response of inFlight.values())
        if (response?.headersSent === false) response.setHeader('Connection', 'close');
      return stop(server, drainMs, preStopMs);
    },
  };
}

const maxUnsentBytes = 64_000_000;
/** Every client that reads at all has taken an answer within this. */
const unsentGraceMs = 2000;

async function stop(server: Server, drainMs: number, preStopMs: number): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), drainMs);
  if (preStopMs > 0 && (await promisify(server.getConnections).call(server)) > 0) await delay(preStopMs);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A kept-alive connection becomes idle only when its request in flight is answered.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  await closed;
  clearInterval(sweep);
  clearTimeout(deadline);
}

function explain(error: Error, host: string, port: number): Error {
  if (hasCode(error, 'EADDRINUSE')) {
    return new StartupError(`Port ${port} of ${host} is used by another program; set PORT to a free one.`);
  }
  if (hasCode(error, 'EACCES')) return new StartupError(`This user may not listen on port ${port}; set PORT.`);
  if (hasCode(error, 'EADDRNOTAVAIL', 'ENOTFOUND')) {
    return new StartupError(`HOST ${host} is no address of this machine.`);
  }
  return error;
}
