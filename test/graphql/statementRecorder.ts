import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { byTcp, listenerOf } from '../support/database.ts';
import { opened } from '../support/openThings.ts';

export type StatementRecorder = {
  /** The database's URL by way of the recorder. */
  url: string;
  /** Every statement that was sent since the last call, in order, and how often the service has waited for an answer. */
  take(): { statements: string[]; roundTrips: number };
  stop(): Promise<void>;
};

/**
 * A proxy between the service and PostgreSQL that records each statement which is really sent: simple queries, and each binding of a
 * prepared statement
 * (https://www.postgresql.org/docs/current/protocol-message-formats.html).
 */
export async function recordStatements(databaseUrl: string): Promise<StatementRecorder> {
  /** The statements of each round trip. */
  let roundTrips: string[][] = [];
  const server = createServer((client) => {
    const database = connect(listenerOf(databaseUrl));
    client.once('data', (introduction) => {
      // Some connections are not for requests, and look at the database now and then.
      if (looksByItself.test(introduction.toString('latin1'))) return void database.pipe(client);
      const exchange = new Exchange((statements) => roundTrips.push(statements));
      exchange.send(introduction);
      client.on('data', (chunk) => exchange.send(chunk));
      forwardWhenAnswered(database, client, exchange);
    });
    client.pipe(database);
    client.on('error', () => database.destroy());
    database.on('error', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const closed = opened('statement recorder');

  return {
    url: byTcp(databaseUrl, (server.address() as AddressInfo).port),
    take: () => {
      // What the service does by a clock is no part of a request.
      const taken = roundTrips.filter((statements) => !statements.some((text) => housekeeping.test(text)));
      roundTrips = [];
      return { statements: taken.flat(), roundTrips: taken.length };
    },
    stop: async () => {
      server.close();
      await once(server, 'close');
      closed();
    },
  };
}

/**
 * Passes the answers on together, when there is one for all that was sent and the client has sent nothing for some turns of the event
 * loop, which is the service's, too. Else an answer could overtake, on a busy machine, what the service sends without waiting for it,
 * and would count as waited for.
 */
function forwardWhenAnswered(database: Socket, client: Socket, exchange: Exchange): void {
  let held: Buffer[] = [];
  let quietTurns = 0;
  client.on('data', () => {
    quietTurns = 0;
  });
  const look = () => {
    // The next answer looks again.
    if (!exchange.isAnswered) return;
    if (quietTurns++ < 10) return void setImmediate(look);
    exchange.end();
    client.write(Buffer.concat(held));
    held = [];
  };
  database.on('data', (chunk) => {
    exchange.receive(chunk);
    held.push(chunk);
    quietTurns = 0;
    setImmediate(look);
  });
  database.on('end', () => client.end(Buffer.concat(held)));
}

const housekeeping = /\boauth\.(note_uses|purge_\w+)\(|\bfeed\.rotate_partitions\(/;

const looksByItself = /graph-query-service (migrations|readiness)/;

/**
 * What one connection sends, and whether it is answered: a Sync and a simple query by ReadyForQuery, an Execute before a Flush by its
 * completion or an error.
 */
class Exchange {
  readonly send: (chunk: Buffer) => void;
  readonly receive: (chunk: Buffer) => void;
  readonly #begin: (statements: string[]) => void;
  readonly #prepared = new Map<string, string>();
  /** Of the round trip that is under way. */
  #statements: string[] | null = null;
  #isIntroduced = false;
  #syncs = 0;
  #executions = 0;

  /** @param begin called with the statements of a round trip when it begins; they are still to come */
  constructor(begin: (statements: string[]) => void) {
    this.#begin = begin;
    this.send = createReader(0, (type, body) => this.#noteSent(type, body));
    this.receive = createReader(1, (type) => this.#noteReceived(type));
  }

  get isAnswered(): boolean {
    return !this.#isIntroduced || (this.#syncs === 0 && this.#executions === 0);
  }

  /** The client has the answers: what it sends next, it sends after it has waited. */
  end(): void {
    this.#statements = null;
  }

  #noteSent(type: string, body: Buffer): void {
    if (!this.#statements) {
      this.#statements = [];
      this.#begin(this.#statements);
    }
    const [first = '', second = ''] = body.toString('utf8').split('\0', 2);
    if (type === 'Q') this.#statements.push(first);
    if (type === 'P') this.#prepared.set(first, second);
    if (type === 'B') this.#statements.push(this.#prepared.get(second) ?? `unknown statement ${second}`);
    if (type === 'E') this.#executions++;
    if (type === 'S' || type === 'Q') this.#syncs++;
  }

  #noteReceived(type: string): void {
    if (type === 'C' || type === 'I') this.#executions = Math.max(0, this.#executions - 1);
    // The other executions before the Sync are left out.
    if (type === 'E') this.#executions = 0;
    if (type !== 'Z') return;
    if (this.#isIntroduced) this.#syncs--;
    this.#isIntroduced = true;
    if (this.#syncs === 0) this.#executions = 0;
  }
}

/**
 * Follows the messages of one direction, which arrive cut anywhere.
 *
 * @param typeLength 0 when the first message, in which a client introduces itself, has no type
 */
function createReader(typeLength: 0 | 1, note: (type: string, body: Buffer) => void): (chunk: Buffer) => void {
  let pending = Buffer.alloc(0);
  let length = typeLength as number;

  return (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= length + 4) {
      const end = length + pending.readInt32BE(length);
      if (pending.length < end) return;
      note(length === 0 ? 'startup' : String.fromCharCode(pending[0] ?? 0), pending.subarray(length + 4, end));
      pending = pending.subarray(end);
      length = 1;
    }
  };
}
