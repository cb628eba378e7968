import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Calls `answer` when it is the request's turn on its connection: a client may send requests without waiting for the answers (RFC 9112
 * section 9.3.2), but only when it has taken one is the next begun. Meanwhile nothing more is read from it.
 */
export function inTurn(socket: Socket, response: ServerResponse, answer: () => void): void {
  // Node.js gives the connection to one response at a time.
  if (response.socket) answer();
  else wait(socket, response, answer);
}

/** Of the requests of a connection that wait for their turn, the one that came last. */
const lastOf = new WeakMap<Socket, ServerResponse>();

function wait(socket: Socket, response: ServerResponse, answer: () => void): void {
  lastOf.set(socket, response);
  // Node.js reads on at the end of each request.
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
