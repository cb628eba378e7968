import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { callerPath } from '../scheduling/caller.ts';

/**
 * HTTP/1.1 pipelining (RFC 9112 section 9.3.2), one request of a connection at a time.
 * A client may send requests without waiting for the answers. Each request starts only when the client has taken the answer before it. The
 * connection is not read meanwhile (backpressure). The cost is head-of-line blocking.
 */
export function serializePipelined(socket: Socket, response: ServerResponse, answer: () => void): void {
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
export function limitSendBuffers(maxBytes: number, graceMs: number) {
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
