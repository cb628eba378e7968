import type { Pool, PoolClient, QueryResult } from 'pg';
import type { Statement } from '../token/implicitTransaction.ts';
import { keepPrepared } from '../token/preparedStatements.ts';
import { type TransactionSettings, toStatement } from '../token/settings.ts';
import { cancellable } from './cancellation.ts';

export type Snapshot = {
  run(statement: Statement): Promise<QueryResult>;
  end(): void;
};

/**
 * One transaction on one connection, in which every statement sees the same state of the database and none can change it. They run
 * one after the other; one that fails does not take the others with it.
 */
export function openSnapshot(pool: Pool, settings: TransactionSettings, signal: AbortSignal): Snapshot {
  const opening: Promise<unknown>[] = [];
  const connected = pool.connect().then((client) => {
    opening.push(client.query('begin isolation level repeatable read read only'), client.query(toStatement(settings)));
    // Should the client leave before its first statement, nobody asks what became of them.
    for (const query of opening) query.catch(() => undefined);
    return client;
  });

  // The first statement travels together with the beginning.
  const runNow = async (client: PoolClient, statement: Statement): Promise<QueryResult> => {
    const before = [...opening.splice(0), client.query('savepoint statement')];
    const result = client.query(keepPrepared(client, statement));
    const after = client.query('release savepoint statement');
    const outcomes = await Promise.allSettled([...before, result, after]);
    const failure = outcomes.find((outcome) => outcome.status === 'rejected');
    if (!failure) return result;
    await client.query('rollback to savepoint statement').catch(() => undefined);
    throw failure.reason;
  };

  let previous: Promise<unknown> = connected;
  return {
    run(statement) {
      const inTurn = async () => {
        const client = await connected;
        return cancellable(client, signal, () => runNow(client, statement));
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
