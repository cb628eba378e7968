import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { LRUCache } from 'lru-cache';
import {
  Client,
  type ClientBase,
  type ClientConfig,
  Connection,
  DatabaseError,
  type PoolClient,
  type QueryConfig,
} from 'pg';
import driver from 'pg/package.json' with { type: 'json' };

/**
 * The private API of the driver: all fields of pg that its types lack and this folder uses.
 * Any version may change them, so the start fails unless pg has the version in which they were read.
 */
type DriverClient = {
  readonly connection: DriverConnection;
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: number;
  readonly ssl: boolean | ConnectionOptions;
  readonly sslNegotiation: 'postgres' | 'direct';
  /** Whether PostgreSQL has answered all that was sent. */
  readonly readyForQuery: boolean;
  /** What is not yet sent, and the method that sends all of it. */
  readonly _queryQueue: unknown[];
  _pulseQueryQueue(): void;
  _getActiveQuery(): { readonly name?: string } | null;
  _handleErrorMessage(message: unknown): void;
};

export type DriverConnection = {
  readonly stream: Socket;
  /** Name → text. */
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  connect(path: string): void;
  connect(port: number, host: string): void;
  requestSsl(): void;
  cancel(processID: number, secretKey: number): void;
  parse: (message: { name: string; text: string }) => void;
  bind(message: { statement: string; values: readonly (string | Buffer | null)[] }): void;
  execute(message: { portal: string }): void;
  close(message: { type: 'S'; name: string }): void;
  sync(): void;
  flush(): void;
};

export type DriverQuery = {
  readonly name: string;
  readonly text: string;
  prepare(connection: DriverConnection): void;
  requiresPreparation(): boolean;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: DataRow): void;
  handleCommandComplete(message: unknown, connection: DriverConnection): void;
  handleError(error: Error, connection: DriverConnection): void;
  handleReadyForQuery(connection: DriverConnection): void;
};

/** The cells of a row. */
export type DataRow = { readonly fields: readonly (string | null)[] };

/** Converts a value to the protocol's form. */
export const { prepareValue } = createRequire(import.meta.url)('pg/lib/utils.js') as {
  prepareValue(value: unknown): string | Buffer | null;
};

export const driverOf = <Client extends ClientBase>(client: Client): Client & DriverClient =>
  client as Client & DriverClient;

/** @throws when pg is another version than the one that this folder was written for */
export function assertDriverVersion(version: string = driver.version): void {
  if (version === knownVersion) return;
  throw new Error(
    `pg is ${version}, and src/database/driver uses fields of pg ${knownVersion} that are private. ` +
      `Install ${knownVersion}, or compare these fields with ${version}, run the tests and change knownVersion in driver.ts.`,
  );
}

const knownVersion = '8.23.1';

type ServerClientOptions = {
  /** How long connecting may take, however long requests wait for a connection. */
  readonly connectMs: number;
  /** Whether statements may have names. Behind some poolers each transaction has another session. */
  readonly preparesStatements: boolean;
  /** Called when a connection prepared a statement before its result type changed: each connection made before then is as old. */
  readonly onStalePlan: () => void;
};

/** The class of clients that the server's pools make. */
export function serverClient({ connectMs, preparesStatements, onStalePlan }: ServerClientOptions) {
  assertDriverVersion();
  const plans: Plans = {
    generation: '',
    replace(generation) {
      if (generation !== plans.generation) return;
      plans.generation = ` -- ${randomUUID()}`;
      onStalePlan();
    },
  };
  const Base: new (config: ClientConfig, plans: Plans) => Client & DriverClient = preparesStatements
    ? PreparingClient
    : UnpreparedClient;
  return class extends Base {
    constructor(config?: ClientConfig) {
      super({ ...config, connectionTimeoutMillis: connectMs }, plans);
    }

    /** After a system error (SQLSTATE class 58) the server may have lost its files: a new connection shows whether it is of use. */
    override _handleErrorMessage(message: unknown): void {
      if (message instanceof DatabaseError && message.code?.startsWith('58')) retire(this);
      super._handleErrorMessage(message);
    }
  };
}

/**
 * The prepared statements of one pool. PgBouncer has statements of the same text share one, on server connections that outlive ours.
 * So a new generation has other texts, by a comment at the end.
 */
type Plans = {
  generation: string;
  /** Begins the next generation, unless this one has ended already. */
  replace(generation: string | null): void;
};

/** Whether statements with a name are prepared on this connection. */
export const preparesStatements = (client: PoolClient): boolean => !(client instanceof UnpreparedClient);

const BaseClient = Client as unknown as new (config?: ClientConfig) => Client & DriverClient;

class PreparingClient extends BaseClient {
  readonly #plans: Plans;
  /**
   * Null until the first statement is prepared: a connection that is opened while a generation ends has the next one.
   * With the name of the one before, it would stay in the pool when its plans become stale.
   */
  #generation: string | null = null;

  constructor(config: ClientConfig, plans: Plans) {
    super(config);
    this.#plans = plans;
    const { connection } = this;
    const parse = connection.parse.bind(connection);
    connection.parse = ({ name, text, ...rest }) => {
      if (name) this.#generation ??= plans.generation;
      parse({ name, text: name ? `${text}${this.#generation}` : text, ...rest });
    };
  }

  override _handleErrorMessage(message: unknown): void {
    if (isStalePlan(message)) this.#plans.replace(this.#generation);
    const { name } = this._getActiveQuery() ?? {};
    // PgBouncer records the name even so, and closes the connection if it parses the name again.
    if (name && !(name in this.connection.parsedStatements)) retire(this);
    super._handleErrorMessage(message);
  }
}

class UnpreparedClient extends BaseClient {
  constructor(config?: ClientConfig) {
    super(config);
    const query = this.query.bind(this) as (...values: unknown[]) => unknown;
    this.query = ((asked: unknown, ...values: unknown[]) => query(withoutName(asked), ...values)) as typeof this.query;
  }

  /** Sends one statement at a time: PgBouncer before 1.21 mixes up the answers to statements that are pipelined. */
  override _pulseQueryQueue(): void {
    if (!this.readyForQuery) return;
    const later = this._queryQueue.splice(1);
    super._pulseQueryQueue();
    this._queryQueue.push(...later);
  }
}

/** A query object that submits itself keeps its name. */
function withoutName(asked: unknown): unknown {
  if (typeof asked !== 'object' || asked === null || 'submit' in asked) return asked;
  return { ...asked, name: undefined };
}

/** Characters of SQL that a connection may have prepared; their plans take some twenty times that. */
const maxCharacters = 200_000;

const preparedOf = new WeakMap<PoolClient, LRUCache<string, string>>();

/**
 * LRU of a connection's prepared statements: the statement with its name, if it may be prepared.
 * When there are too many, the least recently used ones are closed, but never a pinned one. A statement gets no name if it is too long,
 * or if the connection prepares none.
 */
export function withPreparedName(client: PoolClient, { name, isPinned, ...statement }: Statement): QueryConfig {
  if (!name || !preparesStatements(client) || statement.text.length > maxCharacters / 4)
    return statement as QueryConfig;
  if (!isPinned) (preparedOf.get(client) ?? createPrepared(client)).set(name, statement.text);
  return { name, ...statement } as QueryConfig;
}

function createPrepared(client: PoolClient): LRUCache<string, string> {
  const { connection } = driverOf(client);
  const prepared = new LRUCache<string, string>({
    maxSize: maxCharacters,
    sizeCalculation: (text) => text.length,
    dispose(_text, name, reason) {
      if (reason !== 'evict') return;
      // The answer is not awaited: it comes with the next Sync.
      connection.close({ type: 'S', name });
      delete connection.parsedStatements[name];
    },
  });
  preparedOf.set(client, prepared);
  return prepared;
}

/** A statement; one with a name is prepared once per connection. */
export type Statement = {
  readonly name?: string | undefined;
  /** Whether it is never evicted from the connection's prepared statements. */
  readonly isPinned?: true;
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly rowMode?: 'array';
};

/**
 * Runs first in the same transaction; if it raises an error, the statement does not run.
 * All are pinned.
 */
export type Precondition = {
  readonly name: string;
  readonly isPinned: true;
  readonly text: string;
  readonly values: readonly (string | Buffer)[];
};

/**
 * Whether a prepared statement would return other types than when it was prepared, since the type of a column has changed. Nothing was done.
 * PostgreSQL's code for that, feature_not_supported, has other meanings, and its message is in the server's language.
 */
export const isStalePlan = (error: unknown): boolean =>
  error instanceof DatabaseError && error.code === '0A000' && error.routine === 'RevalidateCachedQuery';

const retired = new WeakSet<ClientBase>();

/** Marks the connection, so that the pool does not hand it out again; its present request may finish. */
function retire(client: ClientBase): void {
  retired.add(client);
}

export const isRetired = (client: ClientBase): boolean => retired.has(client);

export const socketOf = (client: ClientBase): Socket => driverOf(client).connection.stream;

/**
 * Statement cancellation: runs `run` on a connection, and sends a cancel request when `signal` aborts.
 * Resolves only after PostgreSQL has processed that request, so that it cannot cancel the connection's next statement.
 */
export async function cancellable<T>(client: PoolClient, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let cancelled: Promise<void> | undefined;
  const cancel = () => {
    cancelled = cancelStatement(client);
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await run();
  } finally {
    signal.removeEventListener('abort', cancel);
    await cancelled;
  }
}

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
