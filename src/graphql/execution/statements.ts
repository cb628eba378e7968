import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Row } from 'grafast-compile';
import type { QueryResult } from 'pg';
import type { PgClientQuery, WithPgClient } from 'postgraphile/@dataplan/pg';
import type { Precondition, Statement } from '../../database/driver/statement.ts';
import { isCollision, isMigratedMeanwhile } from '../../database/pool/unavailable.ts';
import type { AccessToken } from '../../token/accessTokens.ts';
import type { TransactionSettings } from '../../token/settings.ts';
import { queryOnce } from '../../token/transaction.ts';
import type { QueryTarget, RanStatement } from './operation.ts';
import { openSnapshot, type Transaction } from './transaction.ts';
import { createSingleWriting, createWriting, createWritingWithin, type Writing } from './writing.ts';

export type StatementsOptions = {
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
  readonly statementCount: () => number | undefined;
  /** Called after each statement, also when it failed. */
  readonly onRan: (statement: RanStatement) => void;
  readonly onFailed: (error: unknown) => void;
};

/**
 * How one operation, or one field of a mutation, reaches the database.
 * Statements of a query: one transaction and one round trip each, or one snapshot for several. Those of a mutation field take place
 * together when its answer is known. A statement that collided with another transaction is retried once.
 */
export class Statements {
  /** For Grafast: its statements are those of the plan, and what plans ask besides. */
  readonly withPgClient: WithPgClient = this.#clientOf('Grafast');
  /** For a compiled run: what its plan asks besides its statements. */
  readonly withPgClientBeside: WithPgClient = this.#clientOf('plan beside');

  readonly #target: QueryTarget;
  readonly #options: StatementsOptions;
  readonly #failed: Failed[] = [];
  #isAgain = false;
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
  async again(): Promise<void> {
    this.#isAgain = true;
    await this.#writing?.undo();
    if (this.#options.transaction) return;
    this.#writing = null;
    this.#isChecked = false;
  }

  /** Keeps the changes of the mutation. Rejects if that fails. */
  async keep(): Promise<void> {
    await this.#writing?.keep();
  }

  /** Ends it after its last statement, and undoes changes that were not kept. */
  async end(): Promise<void> {
    void this.#snapshot?.commit().catch(() => undefined);
    if (!this.#options.transaction) await this.#writing?.undo();
  }

  #clientOf(asker: Asker): WithPgClient {
    return async (settings, callback) =>
      callback({
        query: async (asked) => {
          const rows = await this.#query(asker, settings as TransactionSettings, toNamed(asked));
          return { rows: rows as never, rowCount: rows.length, notices: [] };
        },
        withTransaction: () => {
          throw new Error(
            'Each statement of a plan is a transaction of its own; put what belongs together into a function',
          );
        },
      });
  }

  async #query(asker: Asker, settings: TransactionSettings, statement: Statement): Promise<readonly Row[]> {
    const failed = this.#failed;
    const same = this.#isAgain ? failed.findIndex((each) => isSame(each.statement, statement)) : -1;
    if (same !== -1) throw failed.splice(same, 1)[0]?.error;
    try {
      const { rows } = await this.#runVerified(asker, settings, statement);
      return rows as readonly Row[];
    } catch (error) {
      if (!this.#isAgain) failed.push({ statement, error });
      throw error;
    }
  }

  async #runVerified(asker: Asker, settings: TransactionSettings, statement: Statement): Promise<QueryResult> {
    const { token, onRan, onFailed } = this.#options;
    const startedAt = performance.now();
    try {
      if (!token) return await this.#run(asker, settings, statement, null);
      const isRequired = this.#isFirstOfWriting(asker);
      const result = await token.withTokenCheck((proof) => this.#run(asker, settings, statement, proof), isRequired);
      if (isRequired) this.#isChecked = true;
      return result;
    } catch (error) {
      onFailed(error);
      throw error;
    } finally {
      onRan({ text: statement.text, durationMs: performance.now() - startedAt });
    }
  }

  /**
   * Whether the statement needs the token's check in its transaction, whatever was checked before: a fence for writes.
   * A statement that failed took its check back with its savepoint.
   */
  #isFirstOfWriting(asker: Asker): boolean {
    const { isQuery, transaction } = this.#options;
    return !isQuery && transaction === null && asker !== 'plan beside' && !this.#isChecked;
  }

  #run(
    asker: Asker,
    settings: TransactionSettings,
    statement: Statement,
    proof: Precondition | null,
  ): Promise<QueryResult> {
    const { isQuery, transaction, statementCount } = this.#options;
    if (isQuery || (asker === 'plan beside' && !transaction)) return this.#read(settings, statement, proof);
    const isSingle = asker === 'compiled run' && statementCount() === 1;
    this.#writing ??= (isSingle ? createSingleWriting : createWriting)(this.#target.pool);
    const { run } = this.#writing;
    return this.#withRetry((retrying) => run(statement, proof, { ...settings, ...retrying }));
  }

  #read(settings: TransactionSettings, statement: Statement, proof: Precondition | null): Promise<QueryResult> {
    const { pool, lsnCheck } = this.#target;
    const { isQuery, statementCount, signal } = this.#options;
    if (isQuery && statementCount() !== 1) {
      this.#snapshot ??= openSnapshot(this.#target, settings, signal);
      return this.#snapshot.run(statement, proof);
    }
    // With an LSN check, the token was verified before.
    const check = lsnCheck ?? proof;
    return this.#withRetry((retrying) => queryOnce(pool, { ...settings, ...retrying }, statement, check, signal));
  }

  async #withRetry(
    attempt: (retrying?: Pick<TransactionSettings, 'lock_timeout'>) => Promise<QueryResult>,
  ): Promise<QueryResult> {
    try {
      return await attempt();
    } catch (error) {
      // Nothing was changed. A query that collided on a replica goes to the primary.
      if (!isMigratedMeanwhile(error) && (this.#target.lsnCheck || !isCollision(error))) throw error;
      // After a deadlock, the other transaction gets the lock that was freed only if this one does not request it at once.
      await delay(backoffMs);
      return attempt({ lock_timeout: this.#options.retryLockTimeout });
    }
  }
}

/** The origin of a statement: a compiled run, Grafast, or a plan besides its own statements. */
type Asker = 'compiled run' | 'Grafast' | 'plan beside';

/** A statement that has failed. */
type Failed = { readonly statement: Statement; readonly error: unknown };

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
