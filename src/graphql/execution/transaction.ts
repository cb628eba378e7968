import { DatabaseError, type PoolClient, type QueryResult } from 'pg';
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
import { cancellable } from './cancellation.ts';
import type { QueryTarget } from './operation.ts';

/** One transaction on one connection for all statements of an operation. */
export type Transaction = {
  /** @param proof runs before the statement, which does not run if the proof fails */
  run(statement: Statement, proof: Precondition | null): Promise<QueryResult>;
  /** Where {@link undo} goes back to. */
  mark(): void;
  /** Undoes everything since the mark, which stays. */
  undo(): Promise<void>;
  /** Runs one more statement, if there is one, and commits with it; if either fails, nothing is changed. */
  commit(last?: Statement): Promise<void>;
  /** Does nothing after the end of the transaction. A lost connection has rolled back. */
  rollBack(): Promise<void>;
};

/** Snapshot: one repeatable-read transaction for a query's statements; its reads may be recorded. */
export const openSnapshot = (target: QueryTarget, settings: TransactionSettings, signal: AbortSignal): Transaction =>
  openTransaction(target, settings, signal, false);

/** A transaction that writes. It is not cancelled when the client disconnects. */
export const openWriting = (target: QueryTarget, settings: TransactionSettings): Transaction =>
  openTransaction(target, settings, new AbortController().signal, true);

/**
 * Runs the statements one after the other, each in a savepoint.
 * So a failed statement does not fail the others, unless it timed out. In a transaction that writes, deferred constraints are checked at
 * the end of each statement, as if it had its own transaction, and then deferred again.
 */
function openTransaction(
  { pool, lsnCheck }: QueryTarget,
  settings: TransactionSettings,
  signal: AbortSignal,
  writes: boolean,
): Transaction {
  const connected = pool.connect();
  let isOpen = false;
  let timeout: unknown = null;
  /** Ends the savepoints of the previous statement. */
  let ending = '';
  /** Whether the mark is to be set, is set, or neither. */
  let marking: 'due' | 'done' | null = null;

  const send = (client: PoolClient, statement: Statement): Promise<QueryResult> => {
    publishStatement(settings, statement.text);
    return client.query(withPreparedName(client, statement));
  };

  const open = (client: PoolClient) => {
    isOpen = true;
    // In its own transaction before the snapshot is taken, which must have the replayed changes.
    const required = lsnCheck ? [queryInImplicitTransaction(client, settings, lsnCheck)] : [];
    const mode = writes ? 'read committed' : 'repeatable read';
    const begun = client.query(`begin isolation level ${mode}`);
    return [...required, begun, client.query(toStatement(settings))];
  };

  const runNow = async (client: PoolClient, statement: Statement, proof: Precondition | null): Promise<QueryResult> => {
    const mark = marking === 'due' ? 'savepoint mark; ' : '';
    const { result, all } = pipelined(client, () => {
      const before = [...(isOpen ? [] : open(client)), client.query(`${ending}${mark}savepoint statement`)];
      if (proof) before.push(send(client, proof));
      const result = send(client, statement);
      return { result, all: [...before, result, client.query(writes ? checkConstraints : release)] };
    });
    ending = '';
    if (mark) marking = 'done';
    const outcomes = await Promise.allSettled(all);
    const failure = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failure) {
      if (isTimeout(failure.reason)) timeout = failure.reason;
      if (isReadOnly(failure.reason)) evictPoolOf(client);
      await client.query('rollback to savepoint statement').catch(() => undefined);
      throw failure.reason;
    }
    if (writes) ending = `rollback to savepoint constraints; ${release}; `;
    return result;
  };

  let previous: Promise<unknown> = connected;
  let isEnded = false;
  const end = async (endNow: (client: PoolClient) => Promise<unknown>) => {
    await Promise.allSettled([previous]);
    const client = await connected.catch(() => null);
    // After its end, the connection serves others.
    if (!client || isEnded) return;
    isEnded = true;
    try {
      await endNow(client);
      client.release();
    } catch (error) {
      client.release(await rollBack(client));
      throw error;
    }
  };

  return {
    run(statement, proof) {
      const runNext = async () => {
        // Otherwise twenty statements would take twenty times as long.
        if (timeout) throw timeout;
        const client = await connected;
        return cancellable(client, signal, () => runNow(client, statement, proof));
      };
      const result = previous.then(runNext, runNext);
      previous = result;
      return result;
    },
    mark: () => {
      marking = 'due';
    },
    async undo() {
      await Promise.allSettled([previous]);
      if (marking !== 'done') return;
      ending = '';
      await (await connected).query('rollback to savepoint mark');
    },
    commit: (last) =>
      end((client) => allOf(pipelined(client, () => [...(last ? [send(client, last)] : []), client.query('commit')]))),
    rollBack: () => end((client) => client.query('rollback')).catch(() => undefined),
  };
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
