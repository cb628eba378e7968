import { Connection, type PoolClient } from 'pg';
import { type DriverConnection, driverOf } from './driver.ts';
import { retire } from './retire.ts';

/**
 * Cancels the running statement by a CancelRequest (PostgreSQL's protocol, message formats).
 * The request has its own connection, which is encrypted as the statement's: its key would let a reader cancel each later statement. It
 * passes PgBouncer, too. It resolves when PostgreSQL has received it. If that is unknown after a second, it might come late and cancel the
 * connection's next statement. So the connection is not used again, and the statement ends by its timeout.
 */
export function cancelStatement(client: PoolClient): Promise<void> {
  const { host, port, processID, secretKey, ssl, sslNegotiation } = driverOf(client);
  const connection = new Connection({ ssl, sslNegotiation } as object) as Connection & DriverConnection;
  const { stream } = connection;

  return new Promise((resolve) => {
    const giveUp = () => {
      retire(client);
      stream.destroy();
    };
    const send = () => connection.cancel(processID, secretKey);
    stream.setTimeout(1000, giveUp);
    connection
      .on('connect', () => {
        if (!ssl) send();
        else if (sslNegotiation !== 'direct') connection.requestSsl();
      })
      .on('sslconnect', send)
      .on('error', giveUp)
      // PostgreSQL answers by closing.
      .on('end', resolve);
    if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
    else connection.connect(port, host);
  });
}
