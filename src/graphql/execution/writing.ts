import type { Pool, PoolClient, QueryResult } from 'pg';
import type { Precondition, Statement } from '../../database/driver/statement.ts';
import { queryUncommitted, type Uncommitted } from '../../token/implicitTransaction.ts';
import type { TransactionSettings } from '../../token/settings.ts';
import { openWriting, type Transaction } from './transaction.ts';

/** The writes of one mutation field: committed when its answer is known, or rolled back. */
export type Writing = {
  run(statement: Statement, proof: Precondition | null, settings: TransactionSettings): Promise<QueryResult>;
  /** Rejects when PostgreSQL does not commit. */
  keep(): Promise<void>;
  /** Rolls back, so that {@link run} can start again. Does nothing after `keep`. */
  undo(): Promise<void>;
};

/**
 * One statement in an implicit transaction: two round trips, without statements to begin or commit.
 * Most mutation fields are of this kind.
 */
export function createSingleWriting(pool: Pool): Writing {
  let open: { readonly client: PoolClient; readonly transaction: Uncommitted } | null = null;

  const end = async (isKept: boolean) => {
    if (!open) return;
    const { client, transaction } = open;
    open = null;
    try {
      await (isKept ? transaction.commit() : transaction.rollBack());
    } finally {
      client.release();
    }
  };

  return {
    async run(statement, proof, settings) {
      if (open) throw new Error('A second statement of what was planned as one');
      const client = await pool.connect();
      try {
        const transaction = await queryUncommitted(client, settings, statement, proof);
        open = { client, transaction };
        return transaction.result;
      } catch (error) {
        client.release();
        throw error;
      }
    },
    keep: () => end(true),
    undo: () => end(false).catch(() => undefined),
  };
}

/** Any number of statements in a transaction of their own, each in a savepoint. */
export function createWriting(pool: Pool): Writing {
  let transaction: Transaction | null = null;
  const end = async (ending: (transaction: Transaction) => Promise<void>) => {
    const ended = transaction;
    transaction = null;
    if (ended) await ending(ended);
  };
  return {
    run(statement, proof, settings) {
      transaction ??= openWriting({ pool, lsnCheck: null }, settings);
      return transaction.run(statement, proof);
    },
    keep: () => end((ended) => ended.commit()),
    undo: () => end((ended) => ended.rollBack()),
  };
}

/** Writes within the transaction of the whole operation, which commits or rolls back what was kept. */
export function createWritingWithin(transaction: Transaction): Writing {
  transaction.mark();
  return {
    run: (statement, proof) => transaction.run(statement, proof),
    keep: () => Promise.resolve(),
    // A lost connection has rolled back everything.
    undo: () => transaction.undo().catch(() => undefined),
  };
}
