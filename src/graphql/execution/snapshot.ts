import { DatabaseError, type PoolClient, type QueryResult } from 'pg';
import { withPreparedName } from '../../database/driver/preparedStatements.ts';
import { socketOf } from '../../database/driver/socketOf.ts';
import type { Precondition, Statement } from '../../database/driver/statement.ts';
import { queryInImplicitTransaction } from '../../token/implicitTransaction.ts';
import { type TransactionSettings, toStatement } from '../../token/settings.ts';
import { cancellable } from './cancellation.ts';
import type { QueryTarget } from './operation.ts';

export type Snapshot = {
  /** @param proof runs before the statement, which does not run if that fails */
  run(statement: Statement, proof: Precondition | null): Promise<QueryResult>;
  end(): void;
};

/**
 * Read-only snapshot: one repeatable-read transaction on one connection for a query's statements.
 * They run one after the other, each in a savepoint, so that one that fails does not fail the others, unless it timed out.
 */
export function openSnapshot(
  { pool, lsnCheck }: QueryTarget,
  settings: TransactionSettings,
  signal: AbortSignal,
): Snapshot {
  const connected = pool.connect();
  let isOpen = false;
  let timeout: unknown = null;

  const open = (client: PoolClient) => {
    isOpen = true;
    // In a transaction of its own, before the snapshot is taken: that must have what was replayed.
    const required = lsnCheck ? [queryInImplicitTransaction(client, settings, lsnCheck)] : [];
    const begun = client.query('begin isolation level repeatable read read only');
    return [...required, begun, client.query(toStatement(settings))];
  };

  const runNow = async (client: PoolClient, statement: Statement, proof: Precondition | null): Promise<QueryResult> => {
    const { result, all } = pipelined(client, () => {
      const before = [...(isOpen ? [] : open(client)), client.query('savepoint statement')];
      if (proof) before.push(client.query(withPreparedName(client, proof)));
      const result = client.query(withPreparedName(client, statement));
      return { result, all: [...before, result, client.query('release savepoint statement')] };
    });
    const outcomes = await Promise.allSettled(all);
    const failure = outcomes.find((outcome) => outcome.status === 'rejected');
    if (!failure) return result;
    if (isTimeout(failure.reason)) timeout = failure.reason;
    await client.query('rollback to savepoint statement').catch(() => undefined);
    throw failure.reason;
  };

  let previous: Promise<unknown> = connected;
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
    async end() {
      await Promise.allSettled([previous]);
      const client = await connected.catch(() => null);
      client?.query('commit').then(
        () => client.release(),
        () => client.release(true),
      );
    },
  };
}

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
