import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

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
