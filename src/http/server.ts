import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { isErrno } from '../isErrno.ts';
import { StartupError } from '../startupError.ts';
import { watchArrivals } from './arrival.ts';
import { boundUnread } from './boundUnread.ts';
import { factsOf } from './facts.ts';
import { inTurn } from './inTurn.ts';

export type HttpServer = {
  /** The port that is listened on, also when any free one was asked for. */
  port: number;
  /**
   * Lets what is in flight finish for at most `drainMs`, then closes what is left. From now on each answer asks its client to
   * connect anew. For `lingerMs` whoever comes is still answered, since a client that is connecting or sending at this moment
   * would not know whether its request was read; then nothing is accepted any more. Nobody lingers where no client is.
   */
  stop(drainMs: number, lingerMs?: number): Promise<void>;
};

/** How long a connection may take, in milliseconds. */
export const connectionTimeouts = {
  headersMs: 10_000,
  /** For a whole request. */
  requestMs: 30_000,
  /** Without a byte in either direction. */
  idleMs: 60_000,
  /** Between two requests: longer than the proxies in front keep theirs, so that it is they who close. */
  keepAliveMs: 65_000,
  /**
   * For what is left of a body that has its answer. At once would be too soon: what is still on its way would reset the
   * connection before the client has read its answer.
   */
  lateBodyMs: 2000,
  /** How often the first two are looked at. */
  checkMs: 2000,
};

/**
 * Listens, with what a client can cost bounded: by `timeouts`, 16 KiB of headers, one request at a time, 64 MB for what all
 * clients have not taken of their answers, and `maxConnections`.
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
  const bound = boundUnread(mostUnreadBytes, unreadMs);
  const answer: RequestListener = (request, response) => {
    const { socket } = request;
    inFlight.set(socket, response);
    response.once('close', () => {
      if (inFlight.get(socket) === response) inFlight.set(socket, null);
      if (!request.complete) setTimeout(() => request.complete || socket.destroy(), timeouts.lateBodyMs).unref();
    });
    bound(response);
    if (stopping) response.setHeader('Connection', 'close');
    listener(request, response);
  };
  const server = createServer({ connectionsCheckingInterval: timeouts.checkMs }, (request, response) => {
    factsOf(response).arrivedAt = arrivalOn(request.socket);
    inTurn(request.socket, response, () => answer(request, response));
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
  // Of several processes on one port, none passes on what is too much to another, which may have as many.
  Object.assign(server, { maxConnections, dropMaxConnection: true });

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explain(error, host, port)));
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: (drainMs, lingerMs = 0) => {
      stopping = true;
      for (const response of inFlight.values())
        if (response?.headersSent === false) response.setHeader('Connection', 'close');
      return stop(server, drainMs, lingerMs);
    },
  };
}

const mostUnreadBytes = 64_000_000;
/** Within which whoever reads at all has taken an answer. */
const unreadMs = 2000;

async function stop(server: Server, drainMs: number, lingerMs: number): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), drainMs);
  if (lingerMs > 0 && (await hasConnections(server))) await delay(lingerMs);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A kept-alive connection becomes idle only when its request in flight is answered.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  await closed;
  clearInterval(sweep);
  clearTimeout(deadline);
}

function hasConnections(server: Server): Promise<boolean> {
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count > 0)));
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
