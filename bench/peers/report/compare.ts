import type { OperationName } from '../operations.ts';
import type { Measured } from '../runRounds.ts';
import type { PeerName } from '../servers/startPeer.ts';

export type Comparison = Omit<Measured, 'name'> & {
  readonly name: PeerName;
  /** Its requests per second divided by those of others, and its p99; undefined when they did not take part. */
  readonly ratios: Readonly<Partial<Record<'sql' | 'apolloOrMercurius' | 'stock' | 'sqlP99', number>>>;
};

/** Puts each measurement beside those of the same operation. */
export function compare(measured: readonly Measured[]): Comparison[] {
  const find = (name: PeerName, operation: OperationName) =>
    measured.find((other) => other.name === name && other.operation === operation);
  return measured.map((one) => {
    const { name, operation, requestsPerSecond, p99Ms } = one;
    const sql = find('sql', operation);
    const stock = find('stock', operation);
    const better = [find('apollo', operation), find('mercurius', operation)].reduce((best, other) =>
      other && (!best || other.requestsPerSecond > best.requestsPerSecond) ? other : best,
    );
    return {
      ...one,
      name: name as PeerName,
      ratios: {
        ...(sql && { sql: requestsPerSecond / sql.requestsPerSecond, sqlP99: p99Ms / sql.p99Ms }),
        ...(better && { apolloOrMercurius: requestsPerSecond / better.requestsPerSecond }),
        ...(stock && { stock: requestsPerSecond / stock.requestsPerSecond }),
      },
    };
  });
}
