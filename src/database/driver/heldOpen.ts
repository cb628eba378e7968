import { type PoolClient, Query } from 'pg';
import { type DataRow, type DriverConnection, type DriverQuery, driverOf } from './driver.ts';
import { type CallbackConfig, createQueryAfter } from './pipelinedQueries.ts';
import type { Precondition } from './statement.ts';

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
