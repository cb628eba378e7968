import { type PoolClient, Query, type QueryConfig } from 'pg';
import {
  type DataRow,
  type DriverConnection,
  type DriverQuery,
  driverOf,
  type Precondition,
  preparesStatements,
  prepareValue,
} from './driver.ts';

type Callback = (error: Error | null, result?: unknown) => void;
export type CallbackConfig = QueryConfig & { callback: unknown; rowMode?: 'array' };

/**
 * Pipelining: sends several statements before one Sync, which makes them one transaction.
 * ("Pipelining" in the documentation of PostgreSQL's protocol.) Only the result of `config` is reported. It fails when one of `first`
 * fails.
 *
 * @param first prepared once per connection, or parsed each time where the connection prepares none
 */
export function queryAfter(client: PoolClient, first: readonly Precondition[], config: CallbackConfig): void {
  client.query(createQueryAfter(client, first, config));
}

/** Makes the query without sending it; only its preparation is sent. */
function createQueryAfter(client: PoolClient, first: readonly Precondition[], config: CallbackConfig): Query {
  const arePrepared = preparesStatements(client);
  const after = arePrepared ? prepare(client, first, config) : config;
  const isPlain = arePrepared && config.name && config.rowMode === 'array';
  return isPlain ? (new RowsAfter(first, after) as unknown as Query) : new QueryAfter(first, after, arePrepared);
}

/**
 * Prepares statements once per connection, pipelined with the query.
 *
 * @returns the query, which fails if the preparation fails
 */
function prepare(client: PoolClient, statements: readonly Precondition[], config: CallbackConfig): CallbackConfig {
  const { connection } = driverOf(client);
  let failure: Error | null = null;
  const onPrepared: Callback = (error) => {
    failure ??= error;
  };
  let following = config;
  for (const [index, { name, text }] of statements.entries()) {
    if (name in connection.parsedStatements || name in connection.submittedNamedStatements) continue;
    // Parsing a statement needs the rights of the role that the earlier ones set.
    client.query(new Preparation(statements.slice(0, index), { name, text, callback: onPrepared }));
    // Otherwise the error would be that it does not exist.
    following = {
      ...config,
      callback: (error: Error | null, result: unknown) => (config.callback as Callback)(failure ?? error, result),
    };
  }
  return following;
}

const BaseQuery = Query as unknown as new (config: CallbackConfig) => DriverQuery & Query;

class Preparation extends BaseQuery {
  readonly #first: readonly Precondition[];

  constructor(first: readonly Precondition[], config: CallbackConfig) {
    super(config);
    this.#first = first;
  }

  override prepare(connection: DriverConnection): void {
    execute(connection, this.#first);
    connection.parse(this);
    connection.submittedNamedStatements[this.name] = this.text;
    connection.sync();
  }

  override handleDataRow(): void {}

  override handleCommandComplete(): void {}
}

/** A statement and its values in the protocol's form. */
type Bound = { readonly name: string; readonly text: string; readonly values: readonly (string | Buffer | null)[] };

function execute(connection: DriverConnection, statements: readonly Bound[], arePrepared = true): void {
  for (const { name, text, values } of statements) {
    if (!arePrepared) connection.parse({ name: '', text });
    connection.bind({ statement: arePrepared ? name : '', values });
    connection.execute({ portal: '' });
  }
}

/** Runs the driver's query after others, whose portals are not described: they send rows and an end. */
class QueryAfter extends BaseQuery {
  readonly #first: readonly Precondition[];
  readonly #arePrepared: boolean;
  #awaited: number;

  constructor(first: readonly Precondition[], config: CallbackConfig, arePrepared: boolean) {
    super(config);
    this.#first = first;
    this.#arePrepared = arePrepared;
    this.#awaited = first.length;
  }

  override requiresPreparation(): boolean {
    return true;
  }

  override prepare(connection: DriverConnection): void {
    execute(connection, this.#first, this.#arePrepared);
    super.prepare(connection);
  }

  override handleDataRow(message: DataRow): void {
    if (this.#awaited === 0) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, connection: DriverConnection): void {
    if (this.#awaited === 0) super.handleCommandComplete(message, connection);
    else this.#awaited--;
  }
}

/**
 * The rows of a prepared statement as PostgreSQL sends them, texts and nulls.
 * All columns of the graph's statements are texts. So nothing is described, and each row becomes only a list of its cells.
 */
class RowsAfter {
  readonly name: string;
  readonly text: string;
  readonly binary = false;
  callback: Callback;
  readonly #first: readonly Precondition[];
  readonly #values: readonly (string | Buffer | null)[];
  readonly #rows: unknown[] = [];
  #awaited: number;

  constructor(first: readonly Precondition[], { name = '', text, values = [], callback }: CallbackConfig) {
    this.name = name;
    this.text = text;
    this.callback = callback as Callback;
    this.#first = first;
    this.#values = values.map(prepareValue);
    this.#awaited = first.length;
  }

  requiresPreparation(): boolean {
    return true;
  }

  prepare(connection: DriverConnection): void {
    const { name, text } = this;
    execute(connection, this.#first);
    if (!(name in connection.parsedStatements || name in connection.submittedNamedStatements)) {
      connection.parse({ name, text });
      connection.submittedNamedStatements[name] = text;
    }
    execute(connection, [{ name, text, values: this.#values }]);
    connection.sync();
  }

  handleRowDescription(): void {}

  handleDataRow({ fields }: DataRow): void {
    if (this.#awaited === 0) this.#rows.push(fields);
  }

  handleCommandComplete(): void {
    if (this.#awaited > 0) this.#awaited--;
  }

  handleReadyForQuery(): void {
    this.callback(null, { rows: this.#rows, rowCount: this.#rows.length });
  }
}
// The driver does the rest, except for its constructor, which copies the configuration.
Object.setPrototypeOf(RowsAfter.prototype, Query.prototype);

/** An open implicit transaction: its statement has answered, but is not committed. */
export type OpenTransaction = {
  /** Rejects when PostgreSQL does not commit, for example because of a deferred constraint. */
  commit(): Promise<void>;
  rollBack(): Promise<void>;
};

/**
 * Commit after the rows: like {@link queryAfter}, but with a Flush in place of the Sync.
 * The statement's rows arrive before its transaction ends, so the caller can look at them and then commit or roll back. This costs one
 * message more than a committed statement. ("Extended Query" in the documentation of PostgreSQL's protocol: a Sync ends an implicit
 * transaction, a Flush does not.)
 *
 * @param config its callback gets the rows, or the error; after an error the transaction has ended
 * @returns what ends it; to be called after the callback, and before anything else is sent on the connection
 */
export function queryHeldOpen(
  client: PoolClient,
  first: readonly Precondition[],
  config: CallbackConfig,
): OpenTransaction {
  const { connection } = driverOf(client);
  const query = createQueryAfter(client, first, config);
  const held = new HeldOpen(query as unknown as DriverQuery, first.length + 1);
  client.query(held as unknown as Query);
  return { commit: () => held.end(connection, true), rollBack: () => held.end(connection, false) };
}

/** Wraps the driver's query, whose callback gets the rows when the statement is complete. */
class HeldOpen {
  readonly name: string;
  readonly text: string;
  readonly binary = false;
  /** Called with the outcome of the statement; a trace sets it. */
  callback: (error: Error | null, result?: unknown) => void = () => undefined;
  readonly #query: DriverQuery;
  readonly #ended = Promise.withResolvers<void>();
  #incomplete: number;
  #state: 'running' | 'open' | 'ending' | 'failed' = 'running';

  /** @param commands how many statements must complete */
  constructor(query: DriverQuery, commands: number) {
    this.#query = query;
    this.#incomplete = commands;
    this.name = query.name;
    this.text = query.text;
    // The caller that ends the transaction gets the failure.
    this.#ended.promise.catch(() => undefined);
  }

  end(connection: DriverConnection, isCommitted: boolean): Promise<void> {
    if (this.#state !== 'open') return this.#ended.promise;
    this.#state = 'ending';
    const { stream } = connection;
    stream.cork();
    if (!isCommitted) {
      // Outside of a transaction block, `rollback` gives a warning and rolls back the implicit transaction.
      connection.parse({ name: '', text: 'rollback' });
      connection.bind({ statement: '', values: [] });
      connection.execute({ portal: '' });
    }
    connection.sync();
    stream.uncork();
    return this.#ended.promise;
  }

  requiresPreparation(): boolean {
    return true;
  }

  prepare(connection: DriverConnection): void {
    this.#query.prepare(Object.create(connection, { sync: { value: () => connection.flush() } }));
  }

  handleRowDescription(message: unknown): void {
    this.#query.handleRowDescription(message);
  }

  handleDataRow(message: DataRow): void {
    this.#query.handleDataRow(message);
  }

  handleCommandComplete(message: unknown, connection: DriverConnection): void {
    if (this.#state !== 'running') return;
    this.#query.handleCommandComplete(message, connection);
    this.#incomplete--;
    if (this.#incomplete > 0) return;
    this.#state = 'open';
    this.callback(null);
    this.#query.handleReadyForQuery(connection);
  }

  handleError(error: Error, connection: DriverConnection): void {
    const { stream } = connection;
    if (this.#state === 'running') {
      // PostgreSQL discards all messages until a Sync. A lost connection has no stream.
      if (stream.writable) connection.sync();
      this.callback(error);
      this.#query.handleError(error, connection);
    }
    this.#state = 'failed';
    this.#ended.reject(error);
  }

  handleReadyForQuery(): void {
    this.#ended.resolve();
  }
}
// The driver submits it as one of its own queries.
Object.setPrototypeOf(HeldOpen.prototype, Query.prototype);
