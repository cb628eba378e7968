import { connect } from 'node:net';
import type { PoolClient } from 'pg';
import { retire } from './retire.ts';

/**
 * Asks PostgreSQL to end what this connection is running, by a CancelRequest on a connection of its own (PostgreSQL's protocol,
 * message formats), which also reaches through PgBouncer. Resolves when it was heard. Should that not be known within a second, it
 * might come late and end somebody else's statement: the connection is not used again, and the statement timeout is left.
 */
export function cancelStatement(client: PoolClient): Promise<void> {
  const { host, port, processID, secretKey } = client as PoolClient & Target;
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
    // PostgreSQL answers by closing; without reading one would not notice.
    socket.resume();
  });
}

/** What the driver knows of its connection, though its types do not say so. */
type Target = { readonly host: string; readonly port: number; readonly processID: number; readonly secretKey: number };
