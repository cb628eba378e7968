import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseError, type Pool, type QueryResult } from 'pg';
import type { PgClientQuery, WithPgClient } from 'postgraphile/@dataplan/pg';
import type { Row } from '../../../plugins/compilation/parseRows.ts';
import type { Precondition, Statement } from '../../database/driver/statement.ts';
import { isCollision } from '../../database/pool/unavailable.ts';
import type { AccessToken } from '../../token/accessTokens.ts';
import { queryInImplicitTransaction } from '../../token/implicitTransaction.ts';
import type { TransactionSettings } from '../../token/settings.ts';
import { cancellable } from './cancellation.ts';
import type { QueryTarget, RanStatement } from './operation.ts';
import { openSnapshot, type Transaction } from './transaction.ts';

/** How one operation reaches the database. */
export type Statements = {
  readonly withPgClient: WithPgClient;
  query(settings: TransactionSettings, statement: Statement): Promise<readonly Row[]>;
  /** From now on, statements that were run have the same outcome again, without being run. */
  replay(): void;
  /** After its last statement. */
  end(): void;
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
  /** Called after each statement, also when it failed. */
  readonly onRan: (statement: RanStatement) => void;
  readonly onFailed: (error: unknown) => void;
};

/**
 * One transaction and one round trip for each statement; a query with several runs in a snapshot.
 * A statement that collided with another transaction is retried once.
 */
export function createStatements({ pool, lsnCheck }: QueryTarget, options: StatementsOptions): Statements {
  const { token, signal, retryLockTimeout, inSnapshot, transaction, isQuery, onRan, onFailed } = options;
  let snapshot: Transaction | null = null;

  const run = (settings: TransactionSettings, statement: Statement, proof: Precondition | null) => {
    if (transaction) return withRetry(() => transaction.run(statement, proof));
    if (inSnapshot()) {
      snapshot ??= openSnapshot({ pool, lsnCheck }, settings, signal);
      return snapshot.run(statement, proof);
    }
    // With an LSN check, the token was verified before.
    const proven = { statement, proof: lsnCheck ?? proof };
    return withRetry((retrying) => runAlone(pool, { ...settings, ...retrying }, proven, signal));
  };

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

  const runAndRecord = async (settings: TransactionSettings, statement: Statement) => {
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

  const recorded: Recorded[] = [];
  let isReplaying = false;

  const query = async (settings: TransactionSettings, statement: Statement): Promise<readonly Row[]> => {
    if (isReplaying && recorded.length > 0) {
      const known = recorded.find(({ text }) => text === statement.text);
      if (known) recorded.splice(recorded.indexOf(known), 1);
      if (known) return known.outcome;
      if (!isQuery) throw new Error('A statement of a mutation would be run again with another text');
    }
    const outcome = runAndRecord(settings, statement).then(({ rows }) => rows);
    if (!isReplaying) recorded.push({ text: statement.text, outcome });
    return outcome;
  };

  return {
    withPgClient: async (settings, callback) =>
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
      }),
    query,
    replay: () => {
      isReplaying = true;
    },
    end: () => void snapshot?.commit().catch(() => undefined),
  };
}

/** A statement that was run, and what came of it. */
type Recorded = { readonly text: string; readonly outcome: Promise<readonly Row[]> };

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
