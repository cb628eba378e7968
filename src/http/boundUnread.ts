import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Bounds the memory of answers that are complete, but that their clients are slow to take: beyond `mostBytes` of all together, those
 * that have taken longest are disconnected, unless it is less than `patienceMs`. To be called with each response before it is
 * answered.
 */
export function boundUnread(mostBytes: number, patienceMs: number) {
  const unread = new Map<Socket, { readonly bytes: number; readonly since: number }>();
  let bytes = 0;

  const forget = (socket: Socket) => {
    bytes -= unread.get(socket)?.bytes ?? 0;
    unread.delete(socket);
  };

  const disconnectSlowest = (now: number) => {
    for (const [socket, { since }] of unread) {
      if (bytes <= mostBytes || now - since < patienceMs) return;
      forget(socket);
      socket.destroy();
    }
  };

  return (response: ServerResponse): void => {
    response.once('prefinish', () => {
      const { socket } = response;
      // Nearly always the operating system has taken all of it.
      if (!socket?.writableLength) return;
      const now = performance.now();
      unread.set(socket, { bytes: socket.writableLength, since: now });
      bytes += socket.writableLength;
      response.once('close', () => forget(socket));
      disconnectSlowest(now);
    });
  };
}
