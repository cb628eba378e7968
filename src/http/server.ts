import cluster from 'node:cluster';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay, setImmediate as nextIteration } from 'node:timers/promises';
import { hasCode, StartupError } from '../errors/errors.ts';
import { fieldsOf } from '../observability/requestFields.ts';
import { callerPath } from '../scheduling/caller.ts';
import { type Refusal, refusalFor } from './answerErrors.ts';
import { hasOneHost, spellingOf } from './requestTarget.ts';

export type HttpServer = Awaited<ReturnType<typeof listen>>;

/** Timeouts of a connection, in milliseconds. */
export const connectionTimeouts = {
  headersMs: 10_000,
  /** For a whole request. */
  requestMs: 30_000,
  /** Without a byte in either direction. */
  idleMs: 60_000,
  /** Between two requests: longer than in the proxies in front, so that the proxies close connections. */
  keepAliveMs: 65_000,
  /** For the rest of a body whose request was answered. */
  lateBodyMs: 2000,
  /** How often the first two are checked. */
  checkMs: 2000,
};

/**
 * An HTTP server that bounds the cost of a client.
 * The bounds are `timeouts`, 16 KiB of headers, one request of a connection at a time, 32 MB of send buffers of all clients together, and
 * `maxConnections`.
 *
 * @throws {StartupError} when the address is not available
 */
export async function listen(
  host: string,
  port: number,
  listener: RequestListener,
  maxConnections = Number.MAX_SAFE_INTEGER,
  timeouts = connectionTimeouts,
) {
  let stopping = false;
  const answered = new WeakMap<Socket, IncomingMessage>();
  const limitSendBuffer = limitSendBuffers(maxUnsentBytes, unsentGraceMs);
  const answer: RequestListener = (request, response) => {
    limitSendBuffer(response);
    if (stopping) response.setHeader('Connection', 'close');
    listener(request, response);
  };
  const onRequest: RequestListener = (request, response) => {
    connections.begin(request, response);
    fieldsOf(response).arrivedAt = arrivalOn(request.socket);
    serializePipelined(request.socket, response, () => {
      answered.set(request.socket, request);
      if (hasOneHost(request)) answer(request, response);
      else refuseHost(request, response);
    });
  };
  const server = createServer({ connectionsCheckingInterval: timeouts.checkMs, requireHostHeader: false }, onRequest);
  // The reader of the body asks for it: a request that is refused by its headers gets no 100 before.
  server.on('checkContinue', onRequest);
  // An expectation that this server does not know may be ignored (RFC 9110 section 10.1.1).
  server.on('checkExpectation', onRequest);
  server.on('clientError', answerUnreadable);
  const arrivalOn = watchArrivals(server);
  const connections = watchConnections(server, timeouts.lateBodyMs);
  server.on('connection', (socket) => lingerAfterAnswer(socket, () => answered.get(socket)));
  server.headersTimeout = timeouts.headersMs;
  server.requestTimeout = timeouts.requestMs;
  server.timeout = timeouts.idleMs;
  server.keepAliveTimeout = timeouts.keepAliveMs;
  // With several processes on one port, an excess connection is closed, and not passed to another process, which may be as full.
  Object.assign(server, { maxConnections, dropMaxConnection: true });

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explain(error, host, port)));
    server.listen(port, host, resolve);
  });
  return {
    /** The actual port, even if any free one was requested. */
    port: (server.address() as AddressInfo).port,
    /**
     * Connection draining: requests in flight may finish for `drainMs`; then connections are closed.
     * For `preStopMs` new requests are still served, with `Connection: close`, so that clients connect elsewhere. Otherwise a client that is
     * connecting or sending at this moment would not know whether its request was read. Without clients there is no such delay.
     */
    stop(drainMs: number, preStopMs = 0): Promise<void> {
      stopping = true;
      return connections.drain(drainMs, preStopMs);
    },
  };
}

/**
 * Lingering close (RFC 9112 section 9.6) after an answer with `Connection: close` that came before the end of the request's body.
 * Node.js would close at once. Bytes still on their way would reset the connection before the client has read its answer.
 */
function lingerAfterAnswer(socket: Socket, current: () => IncomingMessage | undefined): void {
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    const request = current();
    if (!request || request.complete) return destroySoon();
    socket.end();
    request.once('end', destroySoon);
  };
}

const maxUnsentBytes = 32_000_000;
/** A client that reads at all takes an answer within this time. */
const unsentGraceMs = 1000;

/**
 * Which connections have a request in flight.
 * Node.js takes an answer that its client has yet to read for idle, and a new connection without a request for busy.
 */
function watchConnections(server: Server, lateBodyMs: number) {
  // The latest request of each, or how many bytes were read up to its answer. A set that changes with each request would keep old
  // responses in memory.
  const last = new Map<Socket, ServerResponse | number>();
  let silentUntil = Number.POSITIVE_INFINITY;
  let arrivals = 0;
  server.on('connection', (socket) => {
    arrivals++;
    last.set(socket, 0);
    socket.once('close', () => last.delete(socket));
  });
  server.closeIdleConnections = () => {
    const isLate = performance.now() > silentUntil;
    for (const [socket, before] of last) if (before === socket.bytesRead && (before > 0 || isLate)) socket.destroy();
  };

  return {
    begin(request: IncomingMessage, response: ServerResponse): void {
      const { socket } = request;
      arrivals++;
      last.set(socket, response);
      const end = () => last.get(socket) === response && last.set(socket, socket.bytesRead);
      response.once('close', () => {
        if (request.complete) end();
        else setTimeout(() => (request.complete ? end() : socket.destroy()), lateBodyMs).unref();
      });
    },

    async drain(drainMs: number, preStopMs: number): Promise<void> {
      for (const response of last.values())
        if (typeof response === 'object' && !response.headersSent) response.setHeader('Connection', 'close');
      const deadline = setTimeout(() => server.closeAllConnections(), drainMs);
      if (last.size > 0) await delay(preStopMs);
      await untilNothingArrives(() => arrivals);
      // From now on a client that has just connected has half a second for its request.
      silentUntil = performance.now() + 500;
      const closed = once(server, 'close');
      closeListener(server);
      // A kept-alive connection becomes idle only when its request in flight is answered.
      const sweep = setInterval(async () => {
        await untilNothingArrives(() => arrivals);
        server.closeIdleConnections();
      }, 50);
      await closed;
      clearInterval(sweep);
      clearTimeout(deadline);
    },
  };
}

/** RFC 9112 section 3.2. */
function refuseHost({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
  const description = 'Send one Host header, with the host of the target.';
  const refusal = { code: 'BAD_USER_INPUT', error: 'invalid_request', description } as const;
  const { type, body } = refusalFor(spellingOf(url), headers.accept ?? '', refusal);
  response.writeHead(400, {
    Connection: 'close',
    'Content-Type': `${type}; charset=utf-8`,
    'Cache-Control': 'no-store',
  });
  response.end(body);
}

/** Answers what Node.js could not read, in the form of its path; bytes without a path are taken for GraphQL's. */
function answerUnreadable(
  error: Error & { code?: string; rawPacket?: Buffer },
  socket: Socket & { _httpMessage?: ServerResponse },
): void {
  const { _httpMessage: begun } = socket;
  if (!socket.writable || begun?.headersSent) return void socket.destroy();
  const head = error.rawPacket?.toString('latin1', 0, 16_384) ?? '';
  const url = begun?.req.url ?? /^[A-Z]+ (\/\S*|[a-z]+:\/\/\S*) HTTP/i.exec(head)?.[1] ?? '/graphql';
  const accept = begun?.req.headers.accept ?? /^accept:(.*)$/im.exec(head)?.[1] ?? '';
  const [status, refusal] = unreadable[error.code ?? ''] ?? malformed;
  const { type, body } = refusalFor(spellingOf(url), accept, { error: 'invalid_request', ...refusal });
  const headers = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${type}; charset=utf-8`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ];
  socket.write(`${headers.join('\r\n')}\r\n\r\n${body}`);
  socket.destroySoon();
}

type Unreadable = readonly [status: number, Omit<Refusal, 'error'>];
const malformed: Unreadable = [400, { code: 'BAD_USER_INPUT', description: 'The request is not valid HTTP.' }];
/** By the codes of Node.js. */
const unreadable: Readonly<Record<string, Unreadable>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [
    408,
    { code: 'BAD_USER_INPUT', description: 'The request did not come to its end in time.' },
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [
    413,
    { code: 'LIMIT_EXCEEDED', limit: 'body', description: 'The extensions of a chunk are too large.' },
  ],
  HPE_HEADER_OVERFLOW: [
    431,
    {
      code: 'LIMIT_EXCEEDED',
      limit: 'headers',
      description: 'The headers have more than 16 KiB; send fewer or shorter ones.',
    },
  ],
};

/**
 * Accepts no more connections.
 * The supervisor of a worker passes connections on to it, and must stop that first: a connection that a closed worker gives back when no
 * other is left would stay open without an answer.
 */
function closeListener(server: Server): void {
  if (cluster.worker) cluster.worker.send({ graph: 'closing' });
  else server.close();
}

/**
 * Resolves in an iteration of the event loop in which no connection or request has arrived, or after 1,000 of them.
 * To close resets what the kernel holds and the process has not read. The busier the process is, the more that is.
 */
async function untilNothingArrives(arrivals: () => number): Promise<void> {
  let before: number | undefined;
  for (let iteration = 0; iteration < 1000 && before !== arrivals(); iteration++) {
    // The first one may be the present iteration, which has read already.
    before = iteration === 0 ? undefined : arrivals();
    await nextIteration();
  }
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

/**
 * Earliest arrival: the time at which a request may have come, though it was read later.
 * libuv accepts one connection in a tick of the event loop. When many clients connect at once, each connection waits one tick for every
 * connection before it in the kernel's accept queue. The first client may have its answer before the last is accepted. A row of accepts is
 * a sequence of successive ticks, each with an accept, of at most the queue's length. So a request that is readable when its connection is
 * accepted may have come when the row of accepts began.
 *
 * @returns when the request that was just read from this connection may have come, by `performance.now()`
 */
export function watchArrivals(server: Server): (socket: Socket) => number {
  const accepted = new WeakMap<Socket, { readonly tick: number; readonly rowSince: number }>();
  let isWatching = false;
  let tick = 0;
  let lastAccept = 0;
  let rowSince = 0;
  let rowLength = 0;

  const endTick = () => {
    tick++;
    isWatching = tick <= lastAccept + 1;
    if (isWatching) setImmediate(endTick);
  };
  server.on('connection', (socket) => {
    if (!isWatching || rowLength === backlog) {
      rowSince = performance.now();
      rowLength = 0;
    }
    rowLength++;
    lastAccept = tick;
    accepted.set(socket, { tick, rowSince });
    if (!isWatching) setImmediate(endTick);
    isWatching = true;
  });

  return (socket) => {
    const accept = accepted.get(socket);
    accepted.delete(socket);
    return accept && tick <= accept.tick + 1 ? accept.rowSince : performance.now();
  };
}

/** The accept queue's length: the default of Node.js' `server.listen`. */
const backlog = 511;

/**
 * HTTP/1.1 pipelining (RFC 9112 section 9.3.2), one request of a connection at a time.
 * A client may send requests without waiting for the answers. Each request starts only when the client has taken the answer before it. The
 * connection is not read meanwhile (backpressure). The cost is head-of-line blocking.
 */
function serializePipelined(socket: Socket, response: ServerResponse, answer: () => void): void {
  // It follows a body whose refusal said `Connection: close` (RFC 9112 section 9.6).
  if (socket.writableEnded) return;
  // Node.js assigns the connection to one response at a time.
  if (response.socket) answer();
  else wait(socket, response, answer);
}

/** The latest request that waits on each connection. */
const lastOf = new WeakMap<Socket, ServerResponse>();

function wait(socket: Socket, response: ServerResponse, answer: () => void): void {
  lastOf.set(socket, response);
  // At the end of each request Node.js starts to read again.
  process.nextTick(() => {
    if (lastOf.get(socket) === response) socket.pause();
  });
  response.once('socket', () => {
    setImmediate(() => {
      if (lastOf.get(socket) === response) {
        lastOf.delete(socket);
        socket.resume();
      }
      if (!response.closed) answer();
    });
  });
}

/**
 * Limits the send buffers of slow readers: the memory of complete answers that clients have not taken.
 * If all together exceed `maxBytes`, the tenant with most of them loses its slowest connections, but none that is slow for less than
 * `graceMs`. Call it with each response before it is answered.
 */
function limitSendBuffers(maxBytes: number, graceMs: number) {
  const unsent = new Map<Socket, Unsent>();
  const bytesByTenant = new Map<string, number>();
  let bytes = 0;

  const add = ({ tenant }: Unsent, change: number) => {
    bytes += change;
    const ofTenant = (bytesByTenant.get(tenant) ?? 0) + change;
    if (ofTenant > 0) bytesByTenant.set(tenant, ofTenant);
    else bytesByTenant.delete(tenant);
  };

  const forget = (socket: Socket) => {
    const answer = unsent.get(socket);
    if (answer && unsent.delete(socket)) add(answer, -answer.bytes);
  };

  const disconnectSlowest = (now: number) => {
    for (const [socket, { tenant, since }] of unsent) {
      if (bytes <= maxBytes || now - since < graceMs) return;
      if (bytesByTenant.get(tenant) !== Math.max(...bytesByTenant.values())) continue;
      forget(socket);
      socket.destroy();
    }
  };

  return (response: ServerResponse): void => {
    response.once('prefinish', () => {
      const { socket } = response;
      // The operating system has nearly always taken everything.
      if (!socket?.writableLength) return;
      const [tenant = ''] = callerPath();
      const answer = { tenant, bytes: socket.writableLength, since: performance.now() };
      unsent.set(socket, answer);
      add(answer, answer.bytes);
      response.once('close', () => forget(socket));
      disconnectSlowest(answer.since);
    });
  };
}

type Unsent = { readonly tenant: string; readonly bytes: number; readonly since: number };
