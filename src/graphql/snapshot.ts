import { DatabaseError, type PoolClient, type QueryResult } from 'pg';
import { socketOf } from '../database/socketOf.ts';
import { type Precondition, queryInImplicitTransaction, type Statement } from '../token/implicitTransaction.ts';
import { withPreparedName } from '../token/preparedStatements.ts';
import { type TransactionSettings, toStatement } from '../token/settings.ts';
import { cancellable } from './cancellation.ts';
import type { Server } from './statements.ts';

export type Snapshot = {
  /** @param proof runs before the statement, which does not run if that fails */
  run(statement: Statement, proof: Precondition | null): Promise<QueryResult>;
  end(): void;
};

/**
 * One transaction on one connection, in which every statement sees the same state of the database and none can change it. They run
 * one after the other; one that fails does not take the others with it, unless it took too long.
 */
export function openSnapshot(
  { pool, requirement }: Server,
  settings: TransactionSettings,
  signal: AbortSignal,
): Snapshot {
  const connected = pool.connect();
  let isOpen = false;
  let tookTooLong: unknown = null;

  const open = (client: PoolClient) => {
    isOpen = true;
    // In a transaction of its own: what becomes true while it is asked, a snapshot from before would not show.
    const required = requirement ? [queryInImplicitTransaction(client, settings, requirement)] : [];
    const begun = client.query('begin isolation level repeatable read read only');
    return [...required, begun, client.query(toStatement(settings))];
  };

  const runNow = async (client: PoolClient, statement: Statement, proof: Precondition | null): Promise<QueryResult> => {
    const { result, all } = inOneWrite(client, () => {
      const before = [...(isOpen ? [] : open(client)), client.query('savepoint statement')];
      if (proof) before.push(client.query(withPreparedName(client, proof)));
      const result = client.query(withPreparedName(client, statement));
      return { result, all: [...before, result, client.query('release savepoint statement')] };
    });
    const outcomes = await Promise.allSettled(all);
    const failure = outcomes.find((outcome) => outcome.status === 'rejected');
    if (!failure) return result;
    if (isTimeout(failure.reason)) tookTooLong = failure.reason;
    await client.query('rollback to savepoint statement').catch(() => undefined);
    throw failure.reason;
  };

  let previous: Promise<unknown> = connected;
  return {
    run(statement, proof) {
      const inTurn = async () => {
        // Else twenty statements would take twenty times as long.
        if (tookTooLong) throw tookTooLong;
        const client = await connected;
        return cancellable(client, signal, () => runNow(client, statement, proof));
      };
      const result = previous.then(inTurn, inTurn);
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

/** What is queued meanwhile leaves together, and so makes one round trip. */
function inOneWrite<T>(client: PoolClient, queue: () => T): T {
  const socket = socketOf(client);
  socket.cork();
  try {
    return queue();
  } finally {
    socket.uncork();
  }
}
