import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Row } from 'grafast-compile';
import { DatabaseError, type Pool, type PoolClient, type QueryResult } from 'pg';
import type { PgClientQuery, WithPgClient } from 'postgraphile/@dataplan/pg';
import {
  cancellable,
  type Precondition,
  type Statement,
  socketOf,
  withPreparedName,
} from '../database/driver/driver.ts';
import { evictPoolOf } from '../database/pool/pools.ts';
import { rollBack } from '../database/pool/transactions.ts';
import { isCollision, isMigratedMeanwhile, isReadOnly } from '../database/pool/unavailable.ts';
import type { AccessToken } from '../token/accessTokens.ts';
import { type TransactionSettings, toStatement } from '../token/settings.ts';
import {
  allOf,
  publishStatement,
  queryInImplicitTransaction,
  queryOnce,
  queryUncommitted,
  type Uncommitted,
} from '../token/transaction.ts';

/** What statements run for, and what is called about them. */
export interface StatementsOptions {
  /** The token whose claims the settings are; null without claims, and then without statements. */
  readonly token: AccessToken | null;
  /** Aborts when the client goes away, and with it the statement. */
  readonly signal: AbortSignal;
  /** How long a statement waits for a lock when it is run again. */
  readonly retryLockTimeout: string;
  /** In which all of them run; null when each has its own. */
  readonly transaction: Transaction | null;
  readonly isQuery: boolean;
  /** Called at the first statement: how many the plan has, if that is known. */
  statementCount(): number | undefined;
  /** Called after each statement, also when it failed. */
  onRan(statement: RanStatement): void;
  onFailed(error: unknown): void;
}

/**
 * How one operation, or one field of a mutation, reaches the database.
 * Statements of a query: one transaction and one round trip each, or one snapshot for several. Those of a mutation field take place
 * together when its answer is known. A statement that collided with another transaction is retried once.
 */
export class Statements {
  readonly #target: QueryTarget;
  readonly #options: StatementsOptions;
  readonly #failed: FailedStatement[] = [];
  #isUndone = false;
  #snapshot: Transaction | null = null;
  #writing: Writing | null;
  /** Whether the transaction that writes has the token's check. */
  #isChecked = false;

  constructor(target: QueryTarget, options: StatementsOptions) {
    this.#target = target;
    this.#options = options;
    this.#writing = options.transaction && createWritingWithin(options.transaction);
  }

  /** Runs a statement of a compiled run. */
  query(settings: TransactionSettings, statement: Statement): Promise<readonly Row[]> {
    return this.#query('compiled run', settings, statement);
  }

  /**
   * Undoes what a mutation has done, so that it can be executed anew.
   * A statement that has failed and comes again with the same text and values then fails without being run. It would wait for its timeout
   * once more.
   */
  async undo(): Promise<void> {
    this.#isUndone = true;
    await this.#writing?.rollBack();
    if (this.#options.transaction) return;
    this.#writing = null;
    this.#isChecked = false;
  }

  /** Commits the changes of the mutation. Rejects if that fails. */
  async commit(): Promise<void> {
    await this.#writing?.commit();
  }

  /** Ends it after its last statement, and rolls back changes that were not committed. */
  async close(): Promise<void> {
    void this.#snapshot?.commit().catch(() => undefined);
    if (!this.#options.transaction) await this.#writing?.rollBack();
  }

  /** Runs the statements of Grafast, or what the plan of a compiled run asks besides its statements. */
  clientFor(source: StatementSource): Grafast.Context['withPgClient'] {
    const withPgClient: WithPgClient = async (settings, callback) =>
      callback({
        query: async (asked) => {
          const rows = await this.#query(source, settings as TransactionSettings, toNamed(asked));
          return { rows: rows as never, rowCount: rows.length, notices: [] };
        },
        withTransaction: () => {
          throw new Error(
            'Each statement of a plan is a transaction of its own; put what belongs together into a function',
          );
        },
      });
    // It has all but the driver's own, which no plan uses.
    return withPgClient as Grafast.Context['withPgClient'];
  }

  async #query(source: StatementSource, settings: TransactionSettings, statement: Statement): Promise<readonly Row[]> {
    const failed = this.#failed;
    const same = this.#isUndone ? failed.findIndex((each) => isSame(each.statement, statement)) : -1;
    if (same !== -1) throw failed.splice(same, 1)[0]?.error;
    try {
      const { rows } = await this.#runVerified(source, settings, statement);
      return rows as readonly Row[];
    } catch (error) {
      if (!this.#isUndone) failed.push({ statement, error });
      throw error;
    }
  }

  async #runVerified(
    source: StatementSource,
    settings: TransactionSettings,
    statement: Statement,
  ): Promise<QueryResult> {
    const { token } = this.#options;
    const startedAt = performance.now();
    try {
      if (!token) return await this.#run(source, settings, statement, null);
      const isRequired = this.#isFirstOfWriting(source);
      const result = await token.withTokenCheck(
        (tokenCheck) => this.#run(source, settings, statement, tokenCheck),
        isRequired,
      );
      if (isRequired) this.#isChecked = true;
      return result;
    } catch (error) {
      this.#options.onFailed(error);
      throw error;
    } finally {
      this.#options.onRan({ text: statement.text, durationMs: performance.now() - startedAt });
    }
  }

  /**
   * Whether the statement needs the token's check in its transaction, whatever was checked before: a fence for writes.
   * A statement that failed took its check back with its savepoint.
   */
  #isFirstOfWriting(source: StatementSource): boolean {
    const { isQuery, transaction } = this.#options;
    return !isQuery && transaction === null && source !== 'side query' && !this.#isChecked;
  }

  #run(
    source: StatementSource,
    settings: TransactionSettings,
    statement: Statement,
    tokenCheck: Precondition | null,
  ): Promise<QueryResult> {
    const { isQuery, transaction } = this.#options;
    if (isQuery || (source === 'side query' && !transaction)) return this.#read(settings, statement, tokenCheck);
    const isSingle = source === 'compiled run' && this.#options.statementCount() === 1;
    this.#writing ??= (isSingle ? createSingleWriting : createWriting)(this.#target.pool);
    const { run } = this.#writing;
    return this.#withRetry(settings, (chosen) => run(statement, tokenCheck, chosen));
  }

  #read(settings: TransactionSettings, statement: Statement, tokenCheck: Precondition | null): Promise<QueryResult> {
    const { pool, lsnCheck } = this.#target;
    const { isQuery, signal } = this.#options;
    if (isQuery && this.#options.statementCount() !== 1) {
      this.#snapshot ??= openSnapshot(this.#target, settings, signal);
      return this.#snapshot.run(statement, tokenCheck);
    }
    // With an LSN check, the token was verified before.
    const check = lsnCheck ?? tokenCheck;
    return this.#withRetry(settings, (chosen) => queryOnce(pool, chosen, statement, check, signal));
  }

  async #withRetry(
    settings: TransactionSettings,
    attempt: (settings: TransactionSettings) => Promise<QueryResult>,
  ): Promise<QueryResult> {
    try {
      return await attempt(settings);
    } catch (error) {
      // Nothing was changed. A query that collided on a replica goes to the primary.
      if (!isMigratedMeanwhile(error) && (this.#target.lsnCheck || !isCollision(error))) throw error;
      // After a deadlock, the other transaction gets the lock that was freed only if this one does not request it at once.
      await delay(backoffMs);
      return attempt({ ...settings, lock_timeout: this.#options.retryLockTimeout });
    }
  }
}

/** The origin of a statement: a compiled run, Grafast, or a plan besides its own statements. */
type StatementSource = 'compiled run' | 'Grafast' | 'side query';

/** A statement that has failed. */
type FailedStatement = { readonly statement: Statement; readonly error: unknown };

/** A text is no identity: with other values it is another statement. */
const isSame = (one: Statement, other: Statement) =>
  one.text === other.text && isDeepStrictEqual(one.values ?? [], other.values ?? []);

/** Before a statement is retried. */
const backoffMs = 50;

/** Prepared statement: PostGraphile names only its queries; they and changes have few distinct texts. */
function toNamed({ text, values, name, arrayMode }: PgClientQuery): Statement {
  return {
    name: name ?? hash('sha1', text),
    text,
    ...(values && { values }),
    ...(arrayMode && { rowMode: 'array' }),
  };
}

/** The writes of one mutation field: committed when its answer is known, or rolled back. */
type Writing = {
  run(statement: Statement, tokenCheck: Precondition | null, settings: TransactionSettings): Promise<QueryResult>;
  /** Rejects when PostgreSQL does not commit. */
  commit(): Promise<void>;
  /** After it, {@link run} can start again. Does nothing after `commit`. */
  rollBack(): Promise<void>;
};

/**
 * One statement in an implicit transaction: two round trips, without statements to begin or commit.
 * Most mutation fields are of this kind.
 */
function createSingleWriting(pool: Pool): Writing {
  let open: { readonly client: PoolClient; readonly transaction: Uncommitted } | null = null;

  const end = async (isCommitted: boolean) => {
    if (!open) return;
    const { client, transaction } = open;
    open = null;
    try {
      await (isCommitted ? transaction.commit() : transaction.rollBack());
    } finally {
      client.release();
    }
  };

  return {
    async run(statement, tokenCheck, settings) {
      if (open) throw new Error('A second statement of what was planned as one');
      const client = await pool.connect();
      try {
        const transaction = await queryUncommitted(client, settings, statement, tokenCheck);
        open = { client, transaction };
        return transaction.result;
      } catch (error) {
        client.release();
        throw error;
      }
    },
    commit: () => end(true),
    rollBack: () => end(false).catch(() => undefined),
  };
}

/** Any number of statements in a transaction of their own, each in a savepoint. */
function createWriting(pool: Pool): Writing {
  let transaction: Transaction | null = null;
  const end = async (ending: (transaction: Transaction) => Promise<void>) => {
    const ended = transaction;
    transaction = null;
    if (ended) await ending(ended);
  };
  return {
    run(statement, tokenCheck, settings) {
      transaction ??= openWriting({ pool, lsnCheck: null }, settings);
      return transaction.run(statement, tokenCheck);
    },
    commit: () => end((ended) => ended.commit()),
    rollBack: () => end((ended) => ended.rollBack()),
  };
}

/** Writes of a field within the transaction of the whole operation, which commits or rolls back all of them. */
function createWritingWithin(transaction: Transaction): Writing {
  transaction.beginField();
  return {
    run: (statement, tokenCheck) => transaction.run(statement, tokenCheck),
    commit: () => Promise.resolve(),
    // A lost connection has rolled back everything.
    rollBack: () => transaction.undoField().catch(() => undefined),
  };
}

/** Snapshot: one repeatable-read transaction for a query's statements; its reads may be recorded. */
const openSnapshot = (target: QueryTarget, settings: TransactionSettings, signal: AbortSignal): Transaction =>
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
  /** Of the savepoint before a mutation's field: `due` with its next statement. Null without such a field. */
  #fieldSavepoint: 'due' | 'set' | null = null;

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
   * @param tokenCheck runs before the statement, which does not run if the tokenCheck fails
   */
  run(statement: Statement, tokenCheck: Precondition | null): Promise<QueryResult> {
    const runNext = async () => {
      // Otherwise each statement would wait for its own timeout.
      if (this.#timeout) throw this.#timeout;
      const client = await this.#connected;
      return cancellable(client, this.#signal, () => this.#runNow(client, statement, tokenCheck));
    };
    const result = this.#previous.then(runNext, runNext);
    this.#previous = result;
    return result;
  }

  /** Begins a field of a mutation, which {@link undoField} can undo. */
  beginField(): void {
    this.#fieldSavepoint = 'due';
  }

  /** Undoes the field that has begun, so that it can be executed anew. */
  async undoField(): Promise<void> {
    await Promise.allSettled([this.#previous]);
    if (this.#fieldSavepoint !== 'set') return;
    this.#ending = '';
    await (await this.#connected).query('rollback to savepoint field');
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

  async #runNow(client: PoolClient, statement: Statement, tokenCheck: Precondition | null): Promise<QueryResult> {
    const beginField = this.#fieldSavepoint === 'due' ? 'savepoint field; ' : '';
    const { result, all } = pipelined(client, () => {
      const opening = this.#isOpen ? [] : this.#open(client);
      const before = [...opening, client.query(`${this.#ending}${beginField}savepoint statement`)];
      if (tokenCheck) before.push(this.#send(client, tokenCheck));
      const result = this.#send(client, statement);
      return { result, all: [...before, result, client.query(this.#writes ? checkConstraints : release)] };
    });
    this.#ending = '';
    if (beginField) this.#fieldSavepoint = 'set';
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

/** The pool that a statement runs on, and the LSN check before it. */
export type QueryTarget = {
  readonly pool: Pool;
  /** Runs before each transaction; if it fails, the transaction does not run. */
  readonly lsnCheck: Precondition | null;
};

/** A statement that was run, and its duration, the wait for a connection included. */
export type RanStatement = { readonly text: string; readonly durationMs: number };
