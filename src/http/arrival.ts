import type { Server } from 'node:http';
import type { Socket } from 'node:net';

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
