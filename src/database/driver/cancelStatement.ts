import { connect } from 'node:net';
import type { PoolClient } from 'pg';
import { driverOf } from './driver.ts';
import { retire } from './retire.ts';

/**
 * Cancels the running statement by a CancelRequest (PostgreSQL's protocol, message formats).
 * The request has its own connection, and passes PgBouncer, too. It resolves when PostgreSQL has received it. If that is unknown after a
 * second, it might come late and cancel the connection's next statement. So the connection is not used again, and the statement ends by its
 * timeout.
 */
export function cancelStatement(client: PoolClient): Promise<void> {
  const { host, port, processID, secretKey } = driverOf(client);
  const message = Buffer.alloc(16);
  message.writeInt32BE(16, 0);
  message.writeInt32BE(80_877_102, 4);
  message.writeInt32BE(processID, 8);
  message.writeInt32BE(secretKey, 12);

  return new Promise((resolve) => {
    const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    const giveUp = () => {
      retire(client);
      socket.destroy();
    };
    socket.setTimeout(1000, giveUp);
    socket.on('error', giveUp).on('close', () => resolve());
    socket.end(message);
    // PostgreSQL answers by closing, which only a reader notices.
    socket.resume();
  });
}
