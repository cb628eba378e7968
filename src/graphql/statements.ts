import { hash } from 'node:crypto';
import { DatabaseError, type Pool } from 'pg';
import type { PgClientQuery, WithPgClient } from 'postgraphile/@dataplan/pg';
import { isCollision } from '../database/unavailable.ts';
import type { AccessToken } from '../token/accessTokens.ts';
import { type Precondition, queryInImplicitTransaction, type Statement } from '../token/implicitTransaction.ts';
import type { TransactionSettings } from '../token/settings.ts';
import { cancellable } from './cancellation.ts';
import { openSnapshot, type Snapshot } from './snapshot.ts';

/** How one operation reaches the database. */
export type Statements = {
  readonly withPgClient: WithPgClient;
  /** After its last statement. */
  end(): void;
};

export type StatementsOptions = {
  /** Whose claims the settings are; null when there are none and no statement either. */
  readonly token: AccessToken | null;
  /** Aborts when the client goes away, and with it the statement. */
  readonly signal: AbortSignal;
  /** How long a statement waits for a lock when it is run again. */
  readonly retryLockTimeout: string;
  /** Asked at the first statement: whether all must see the same state of the database. */
  readonly inSnapshot: () => boolean;
  /** PostGraphile's own way, for what is more than a statement. */
  readonly ordinary: WithPgClient;
  /** Hears of each statement when it is over, whatever came of it. */
  readonly onRan: (statement: RanStatement) => void;
  readonly onFailed: (error: unknown) => void;
};

/** Who is asked. */
export type Server = {
  readonly pool: Pool;
  /** What goes before each transaction, which does not take place if it fails. */
  readonly requirement: Precondition | null;
};

/** A statement that was run, and how long that took, the wait for a connection included. */
export type RanStatement = { readonly text: string; readonly durationMs: number };

/**
 * Each statement is a transaction of its own and one round trip, unless the operation has several and only reads: then they share
 * one snapshot. One that collided with another transaction is run once more.
 */
export function createStatements({ pool, requirement }: Server, options: StatementsOptions): Statements {
  const { token, signal, retryLockTimeout, inSnapshot, ordinary, onRan, onFailed } = options;
  let snapshot: Snapshot | null = null;

  const run = (settings: TransactionSettings, statement: Statement, proof: Precondition | null) => {
    // Where there is a requirement, the token was proven before.
    if (!inSnapshot()) return runOnceOrTwice(settings, { statement, proof: requirement ?? proof });
    snapshot ??= openSnapshot({ pool, requirement }, settings, signal);
    return snapshot.run(statement, proof);
  };

  /** A connection is held for each try alone. */
  const runOnceOrTwice = async (settings: TransactionSettings, proven: ProvenStatement) => {
    try {
      return await runAlone(pool, settings, proven, signal);
    } catch (error) {
      // Nothing was done. A replica's query that collided goes to the primary.
      if (!isOvertaken(error) && (requirement || !isCollision(error))) throw error;
      return runAlone(pool, { ...settings, lock_timeout: retryLockTimeout }, proven, signal);
    }
  };

  const runAndTell = async (settings: TransactionSettings, statement: Statement) => {
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

  return {
    withPgClient: async (settings, callback) =>
      callback({
        async query(query) {
          const { rows, rowCount } = await runAndTell(settings as TransactionSettings, toNamed(query));
          return { rows, rowCount, notices: [] };
        },
        async withTransaction(work) {
          await token?.requireLive();
          return ordinary(settings, (client) => client.withTransaction(work as never)) as never;
        },
      }),
    end: () => snapshot?.end(),
  };
}

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
 * SQLSTATE invalid_function_definition, datatype_mismatch: a function returns a row of its table, which a migration has changed after the
 * statement was planned and before the function had its lock. Planned anew, it fits.
 */
const isOvertaken = (error: unknown): boolean =>
  error instanceof DatabaseError && ['42P13', '42804'].includes(error.code ?? '');

/** PostGraphile names its queries and not its changes; both are the same texts again and again. */
function toNamed({ text, values, name, arrayMode }: PgClientQuery): Statement {
  return {
    name: name ?? hash('sha1', text),
    text,
    ...(values && { values }),
    ...(arrayMode && { rowMode: 'array' }),
  };
}
