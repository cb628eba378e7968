import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { byTcp, listenerOf } from '../support/database.ts';
import { opened } from '../support/openThings.ts';

export type StatementRecorder = {
  /** The database's URL by way of the recorder. */
  url: string;
  /** Every statement that was run since the last call, in order. */
  take(): string[];
  /** How often the service has waited for an answer since the last call. */
  takeRoundTrips(): number;
  stop(): Promise<void>;
};

/**
 * A proxy between the service and PostgreSQL that records each statement which is really sent: simple queries, and each binding of a
 * prepared statement
 * (https://www.postgresql.org/docs/current/protocol-message-formats.html).
 */
export async function recordStatements(databaseUrl: string): Promise<StatementRecorder> {
  let statements: string[] = [];
  let roundTrips = 0;
  const server = createServer((client) => {
    const database = connect(listenerOf(databaseUrl));
    const read = createReader((statement) => statements.push(statement));
    let isWaiting = false;
    client.once('data', (introduction) => {
      // Some connections are not for requests, and look at the database now and then.
      if (looksByItself.test(introduction.toString('latin1'))) return;
      const count = () => {
        if (!isWaiting) roundTrips++;
        isWaiting = true;
      };
      count();
      read(introduction);
      client.on('data', count).on('data', read);
    });
    client.pipe(database);
    forwardWhenQuiet(database, client, () => {
      isWaiting = false;
    });
    client.on('error', () => database.destroy());
    database.on('error', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const closed = opened('statement recorder');

  return {
    url: byTcp(databaseUrl, (server.address() as AddressInfo).port),
    take: () => {
      const taken = statements;
      statements = [];
      return taken;
    },
    takeRoundTrips: () => {
      const taken = roundTrips;
      roundTrips = 0;
      return taken;
    },
    stop: async () => {
      server.close();
      await once(server, 'close');
      closed();
    },
  };
}

/**
 * Passes the answers on when the client has sent nothing for some turns of the event loop, which is the service's, too. Else an answer
 * could overtake, on a busy machine, what the service sends without waiting for it, and would count as waited for.
 */
function forwardWhenQuiet(database: Socket, client: Socket, onForwarded: () => void): void {
  let held: Buffer[] = [];
  let quietTurns = 0;
  client.on('data', () => {
    quietTurns = 0;
  });
  const look = () => {
    if (quietTurns++ < 10) return void setImmediate(look);
    onForwarded();
    client.write(Buffer.concat(held));
    held = [];
  };
  database.on('data', (chunk) => {
    if (held.push(chunk) > 1) return;
    quietTurns = 0;
    setImmediate(look);
  });
  database.on('end', () => client.end(Buffer.concat(held)));
}

const looksByItself = /graph-query-service (migrations|readiness)/;

/** Follows the messages of one connection, which arrive cut anywhere. */
function createReader(record: (statement: string) => void): (chunk: Buffer) => void {
  const prepared = new Map<string, string>();
  let pending = Buffer.alloc(0);
  // The first message, in which the client introduces itself, has no type.
  let typeLength = 0;

  return (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= typeLength + 4) {
      const length = typeLength + pending.readInt32BE(typeLength);
      if (pending.length < length) return;
      const [first = '', second = ''] = pending.toString('utf8', typeLength + 4, length).split('\0', 2);
      const type = typeLength === 0 ? 'startup' : String.fromCharCode(pending[0] ?? 0);
      if (type === 'Q') record(first);
      if (type === 'P') prepared.set(first, second);
      if (type === 'B') record(prepared.get(second) ?? `unknown statement ${second}`);
      pending = pending.subarray(length);
      typeLength = 1;
    }
  };
}
