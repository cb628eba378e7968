import { DatabaseError, type PoolClient, type QueryResult } from 'pg';
import { cancellable } from '../../database/driver/cancellable.ts';
import { withPreparedName } from '../../database/driver/preparedStatements.ts';
import { socketOf } from '../../database/driver/socketOf.ts';
import type { Precondition, Statement } from '../../database/driver/statement.ts';
import { evictPoolOf } from '../../database/pool/pools.ts';
import { rollBack } from '../../database/pool/rollBack.ts';
import { isReadOnly } from '../../database/pool/unavailable.ts';
import { queryInImplicitTransaction } from '../../token/implicitTransaction.ts';
import { type TransactionSettings, toStatement } from '../../token/settings.ts';
import { allOf } from '../../token/transaction.ts';
import { publishStatement } from '../../token/uses.ts';
import type { QueryTarget } from './operation.ts';

/** Snapshot: one repeatable-read transaction for a query's statements; its reads may be recorded. */
export const openSnapshot = (target: QueryTarget, settings: TransactionSettings, signal: AbortSignal): Transaction =>
  new Transaction(target, settings, signal, false);

/** A transaction that writes. It is not cancelled when the client disconnects. */
export const openWriting = (target: QueryTarget, settings: TransactionSettings): Transaction =>
  new Transaction(target, settings, new AbortController().signal, true);

/**
 * One transaction on one connection for all statements of an operation, each in a savepoint.
 * So a failed statement does not fail the others, unless it timed out. In a transaction that writes, deferred constraints are checked at
 * the end of each statement, as if it had its own transaction, and then deferred again.
 */
export class Transaction {
  readonly #lsnCheck: QueryTarget['lsnCheck'];
  readonly #settings: TransactionSettings;
  readonly #signal: AbortSignal;
  readonly #writes: boolean;
  readonly #connected: Promise<PoolClient>;
  /** The statement before the next one. */
  #previous: Promise<unknown>;
  #isOpen = false;
  #isEnded = false;
  #timeout: unknown = null;
  /** Ends the savepoints of the previous statement. */
  #ending = '';
  /** Whether the mark is to be set, is set, or neither. */
  #marking: 'due' | 'done' | null = null;

  constructor({ pool, lsnCheck }: QueryTarget, settings: TransactionSettings, signal: AbortSignal, writes: boolean) {
    this.#lsnCheck = lsnCheck;
    this.#settings = settings;
    this.#signal = signal;
    this.#writes = writes;
    this.#connected = pool.connect();
    this.#previous = this.#connected;
  }

  /**
   * Runs the statements one after the other.
   *
   * @param proof runs before the statement, which does not run if the proof fails
   */
  run(statement: Statement, proof: Precondition | null): Promise<QueryResult> {
    const runNext = async () => {
      // Otherwise twenty statements would take twenty times as long.
      if (this.#timeout) throw this.#timeout;
      const client = await this.#connected;
      return cancellable(client, this.#signal, () => this.#runNow(client, statement, proof));
    };
    const result = this.#previous.then(runNext, runNext);
    this.#previous = result;
    return result;
  }

  /** Where {@link undo} goes back to. */
  mark(): void {
    this.#marking = 'due';
  }

  /** Undoes everything since the mark, which stays. */
  async undo(): Promise<void> {
    await Promise.allSettled([this.#previous]);
    if (this.#marking !== 'done') return;
    this.#ending = '';
    await (await this.#connected).query('rollback to savepoint mark');
  }

  /** Runs one more statement, if there is one, and commits with it; if either fails, nothing is changed. */
  commit(last?: Statement): Promise<void> {
    return this.#end((client) =>
      allOf(pipelined(client, () => [...(last ? [this.#send(client, last)] : []), client.query('commit')])),
    );
  }

  /** Does nothing after the end of the transaction. A lost connection has rolled back. */
  rollBack(): Promise<void> {
    return this.#end((client) => client.query('rollback')).catch(() => undefined);
  }

  async #runNow(client: PoolClient, statement: Statement, proof: Precondition | null): Promise<QueryResult> {
    const mark = this.#marking === 'due' ? 'savepoint mark; ' : '';
    const { result, all } = pipelined(client, () => {
      const opening = this.#isOpen ? [] : this.#open(client);
      const before = [...opening, client.query(`${this.#ending}${mark}savepoint statement`)];
      if (proof) before.push(this.#send(client, proof));
      const result = this.#send(client, statement);
      return { result, all: [...before, result, client.query(this.#writes ? checkConstraints : release)] };
    });
    this.#ending = '';
    if (mark) this.#marking = 'done';
    const outcomes = await Promise.allSettled(all);
    const failure = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failure) {
      if (isTimeout(failure.reason)) this.#timeout = failure.reason;
      if (isReadOnly(failure.reason)) evictPoolOf(client);
      await client.query('rollback to savepoint statement').catch(() => undefined);
      throw failure.reason;
    }
    if (this.#writes) this.#ending = `rollback to savepoint constraints; ${release}; `;
    return result;
  }

  #open(client: PoolClient): Promise<QueryResult>[] {
    this.#isOpen = true;
    const lsnCheck = this.#lsnCheck;
    // In its own transaction before the snapshot is taken, which must have the replayed changes.
    const required = lsnCheck ? [queryInImplicitTransaction(client, this.#settings, lsnCheck)] : [];
    const begun = client.query(`begin isolation level ${this.#writes ? 'read committed' : 'repeatable read'}`);
    return [...required, begun, client.query(toStatement(this.#settings))];
  }

  #send(client: PoolClient, statement: Statement): Promise<QueryResult> {
    publishStatement(this.#settings, statement.text);
    return client.query(withPreparedName(client, statement));
  }

  async #end(endNow: (client: PoolClient) => Promise<unknown>): Promise<void> {
    await Promise.allSettled([this.#previous]);
    const client = await this.#connected.catch(() => null);
    // After its end, the connection serves others.
    if (!client || this.#isEnded) return;
    this.#isEnded = true;
    try {
      await endNow(client);
      client.release();
    } catch (error) {
      client.release(await rollBack(client));
      throw error;
    }
  }
}

const release = 'release savepoint statement';

/** A rollback to the savepoint defers them again, and undoes their effects; the commit repeats these. */
const checkConstraints = 'savepoint constraints; set constraints all immediate';

/** SQLSTATE query_canceled. */
const isTimeout = (error: unknown) => error instanceof DatabaseError && error.code === '57014';

/** Pipelining: queries that `queue` sends leave in one write, and so make one round trip. */
function pipelined<T>(client: PoolClient, queue: () => T): T {
  const socket = socketOf(client);
  socket.cork();
  try {
    return queue();
  } finally {
    socket.uncork();
  }
}
