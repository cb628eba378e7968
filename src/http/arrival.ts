import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Earliest arrival: the time at which a request may have come, though it was read later.
 *
 * libuv accepts one connection in a turn of the event loop. Of clients that connect at once the last is accepted as many turns later
 * as there are connections before it in the kernel's queue, when the first of them may have its answer already. So what can be read as
 * soon as its connection was accepted may have come when the row of accepts began: turns, one after the other, in each of which a
 * connection was accepted, and no more of them than the queue holds.
 *
 * @returns when the request that was just read from this connection may have come, by `performance.now()`
 */
export function watchArrivals(server: Server): (socket: Socket) => number {
  const accepted = new WeakMap<Socket, { readonly turn: number; readonly rowSince: number }>();
  let isWatching = false;
  let turn = 0;
  let lastAccept = 0;
  let rowSince = 0;
  let rowLength = 0;

  const endTurn = () => {
    turn++;
    isWatching = turn <= lastAccept + 1;
    if (isWatching) setImmediate(endTurn);
  };
  server.on('connection', (socket) => {
    if (!isWatching || rowLength === backlog) {
      rowSince = performance.now();
      rowLength = 0;
    }
    rowLength++;
    lastAccept = turn;
    accepted.set(socket, { turn, rowSince });
    if (!isWatching) setImmediate(endTurn);
    isWatching = true;
  });

  return (socket) => {
    const accept = accepted.get(socket);
    accepted.delete(socket);
    return accept && turn <= accept.turn + 1 ? accept.rowSince : performance.now();
  };
}

/** How many connections the kernel keeps until they are accepted: the default of Node.js' `server.listen`. */
const backlog = 511;
