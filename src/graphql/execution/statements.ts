import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Row } from 'grafast-compile';
import { DatabaseError, type Pool, type QueryResult } from 'pg';
import type { PgClientQuery, WithPgClient } from 'postgraphile/@dataplan/pg';
import type { Precondition, Statement } from '../../database/driver/statement.ts';
import { isCollision } from '../../database/pool/unavailable.ts';
import type { AccessToken } from '../../token/accessTokens.ts';
import { queryInImplicitTransaction } from '../../token/implicitTransaction.ts';
import type { TransactionSettings } from '../../token/settings.ts';
import { cancellable } from './cancellation.ts';
import type { QueryTarget, RanStatement } from './operation.ts';
import { openSnapshot, type Transaction } from './transaction.ts';
import { createSingleWriting, createWriting, createWritingWithin, type Writing } from './writing.ts';

/** How one operation, or one field of a mutation, reaches the database. */
export type Statements = {
  /** For Grafast: its statements are those of the plan, and what plans ask besides. */
  readonly withPgClient: WithPgClient;
  /** For a compiled run: what its plan asks besides its statements. */
  readonly withPgClientBeside: WithPgClient;
  /** Runs a statement of a compiled run. */
  query(settings: TransactionSettings, statement: Statement): Promise<readonly Row[]>;
  /**
   * Undoes what a mutation has done, so that it can be executed anew.
   * Then a statement that has failed fails again without being run, if its text and its values are the same: it would wait for its
   * timeout once more.
   */
  again(): Promise<void>;
  /** What the mutation has done takes place. Rejects when it does not. */
  keep(): Promise<void>;
  /** After its last statement: what was not kept is undone. */
  end(): Promise<void>;
};

export type StatementsOptions = {
  /** The token whose claims the settings are; null without claims, and then without statements. */
  readonly token: AccessToken | null;
  /** Aborts when the client goes away, and with it the statement. */
  readonly signal: AbortSignal;
  /** How long a statement waits for a lock when it is run again. */
  readonly retryLockTimeout: string;
  /** Called at the first statement: whether all must see the same state of the database. */
  readonly inSnapshot: () => boolean;
  /** In which all of them run; null when each has its own. */
  readonly transaction: Transaction | null;
  readonly isQuery: boolean;
  /** Called at the first statement of a compiled run: whether it is the only one. */
  readonly isSingle: () => boolean;
  /** Called after each statement, also when it failed. */
  readonly onRan: (statement: RanStatement) => void;
  readonly onFailed: (error: unknown) => void;
};

/**
 * Statements of a query: one transaction and one round trip each, or one snapshot for several.
 * Those of a mutation field take place together when its answer is known. A statement that collided with another transaction is retried
 * once.
 */
export function createStatements({ pool, lsnCheck }: QueryTarget, options: StatementsOptions): Statements {
  const { token, signal, retryLockTimeout, inSnapshot, transaction, isQuery, isSingle, onRan, onFailed } = options;
  let snapshot: Transaction | null = null;
  let writing: Writing | null = transaction && createWritingWithin(transaction);

  const runRead: Run = (settings, statement, proof) => {
    if (inSnapshot()) {
      snapshot ??= openSnapshot({ pool, lsnCheck }, settings, signal);
      return snapshot.run(statement, proof);
    }
    // With an LSN check, the token was verified before.
    const proven = { statement, proof: lsnCheck ?? proof };
    return withRetry((retrying) => runAlone(pool, { ...settings, ...retrying }, proven, signal));
  };

  const runWrite = (
    settings: TransactionSettings,
    statement: Statement,
    proof: Precondition | null,
    create: typeof createWriting,
  ) => {
    writing ??= create(pool);
    const { run } = writing;
    return withRetry((retrying) => run(statement, proof, { ...settings, ...retrying }));
  };

  const runCompiled: Run = (settings, statement, proof) =>
    isQuery
      ? runRead(settings, statement, proof)
      : runWrite(settings, statement, proof, isSingle() ? createSingleWriting : createWriting);

  const runByGrafast: Run = (settings, statement, proof) =>
    isQuery ? runRead(settings, statement, proof) : runWrite(settings, statement, proof, createWriting);

  const runBeside: Run = (settings, statement, proof) =>
    transaction ? runByGrafast(settings, statement, proof) : runRead(settings, statement, proof);

  const withRetry = async (attempt: (retrying?: Pick<TransactionSettings, 'lock_timeout'>) => Promise<QueryResult>) => {
    try {
      return await attempt();
    } catch (error) {
      // Nothing was changed. A query that collided on a replica goes to the primary.
      if (!isMigratedMeanwhile(error) && (lsnCheck || !isCollision(error))) throw error;
      // Of two that deadlocked, the other one gets the lock that was freed only if it is not requested again at once.
      await delay(backoffMs);
      return attempt({ lock_timeout: retryLockTimeout });
    }
  };

  const runVerified = async (run: Run, settings: TransactionSettings, statement: Statement) => {
    const startedAt = performance.now();
    try {
      if (!token) return await run(settings, statement, null);
      return await token.withTokenCheck((proof) => run(settings, statement, proof));
    } catch (error) {
      onFailed(error);
      throw error;
    } finally {
      onRan({ text: statement.text, durationMs: performance.now() - startedAt });
    }
  };

  const failed: Failed[] = [];
  let isAgain = false;

  const queryBy = (run: Run) => async (settings: TransactionSettings, statement: Statement) => {
    const same = isAgain ? failed.findIndex((each) => isSame(each.statement, statement)) : -1;
    if (same !== -1) throw failed.splice(same, 1)[0]?.error;
    try {
      const { rows } = await runVerified(run, settings, statement);
      return rows as readonly Row[];
    } catch (error) {
      if (!isAgain) failed.push({ statement, error });
      throw error;
    }
  };

  const clientBy = (run: Run): WithPgClient => {
    const query = queryBy(run);
    return async (settings, callback) =>
      callback({
        async query(asked) {
          const rows = await query(settings as TransactionSettings, toNamed(asked));
          return { rows: rows as never, rowCount: rows.length, notices: [] };
        },
        withTransaction: () => {
          throw new Error(
            'Each statement of a plan is a transaction of its own; put what belongs together into a function',
          );
        },
      });
  };

  return {
    withPgClient: clientBy(runByGrafast),
    withPgClientBeside: clientBy(runBeside),
    query: queryBy(runCompiled),
    async again() {
      isAgain = true;
      await writing?.undo();
      if (!transaction) writing = null;
    },
    keep: async () => writing?.keep(),
    async end() {
      void snapshot?.commit().catch(() => undefined);
      if (!transaction) await writing?.undo();
    },
  };
}

type Run = (settings: TransactionSettings, statement: Statement, proof: Precondition | null) => Promise<QueryResult>;

/** A statement that has failed. */
type Failed = { readonly statement: Statement; readonly error: unknown };

/** A text is no identity: with other values it is another statement. */
const isSame = (one: Statement, other: Statement) =>
  one.text === other.text && isDeepStrictEqual(one.values ?? [], other.values ?? []);

/** Before a statement is retried. */
const backoffMs = 50;

/** The proof runs before the statement. */
type ProvenStatement = { readonly statement: Statement; readonly proof: Precondition | null };

async function runAlone(
  pool: Pool,
  settings: TransactionSettings,
  { statement, proof }: ProvenStatement,
  signal: AbortSignal,
) {
  const client = await pool.connect();
  try {
    return await cancellable(client, signal, () => queryInImplicitTransaction(client, settings, statement, proof));
  } finally {
    client.release();
  }
}

/**
 * SQLSTATE invalid_function_definition, datatype_mismatch: a migration came in between.
 * A function returns a row of its table, which was changed after the statement was planned and before the function had its lock. Planned
 * anew, it fits.
 */
const isMigratedMeanwhile = (error: unknown): boolean =>
  error instanceof DatabaseError && ['42P13', '42804'].includes(error.code ?? '');

/** Prepared statement: PostGraphile names only its queries; they and changes have few distinct texts. */
function toNamed({ text, values, name, arrayMode }: PgClientQuery): Statement {
  return {
    name: name ?? hash('sha1', text),
    text,
    ...(values && { values }),
    ...(arrayMode && { rowMode: 'array' }),
  };
}
