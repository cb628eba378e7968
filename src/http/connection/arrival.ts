import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Earliest arrival: the time at which a request may have come, though it was read later.
 * libuv accepts one connection in a tick of the event loop. When many clients connect at once, each waits as many ticks as there are
 * connections before it in the kernel's accept queue; the first may have its answer before the last is accepted. So a request that can be
 * read as soon as its connection was accepted may have come when the row of accepts began: successive ticks, in each of which a
 * connection was accepted, and no more of them than the queue holds.
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

/** The kernel's accept queue: the default of Node.js' `server.listen`. */
const backlog = 511;
