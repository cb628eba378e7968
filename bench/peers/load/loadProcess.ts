import type { Tokens } from '../data/issueTokens.ts';
import type { Size } from '../data/sizes.ts';
import { type OperationName, requestOf } from '../operations.ts';
import { Connection } from './Connection.ts';
import { toBytes } from './toBytes.ts';

/**
 * A child process, so that sending takes no time of a measured process.
 * It executes a {@link LoadOrder} and answers with a {@link LoadResult}.
 */
export type LoadOrder = {
  readonly port: number;
  readonly operation: OperationName;
  readonly tokens: Tokens;
  readonly size: Size;
  readonly connections: number;
  readonly seconds: number;
  /** The number of the first request. */
  readonly from: number;
};

export type LoadResult = {
  /** One for each request, in the order in which they were answered. */
  readonly latenciesMs: Float64Array;
  readonly seconds: number;
  /** The part of the time that this process was busy; near 1 it measures itself. */
  readonly utilization: number;
};

process.on('message', (order: LoadOrder) => {
  load(order).then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.({ error: error instanceof Error ? error.message : String(error) }),
  );
});
process.once('disconnect', () => process.exit());
// The parent decides when to end.
process.on('SIGINT', () => undefined);

async function load({ port, operation, tokens, size, connections, seconds, from }: LoadOrder): Promise<LoadResult> {
  const kept = operation.startsWith('Q')
    ? Array.from({ length: differentReads }, (_, n) => toBytes(requestOf(operation, n, tokens, size)))
    : null;
  let next = from;
  const nextRequest = (): Buffer => {
    const n = next++;
    return kept?.[n % kept.length] ?? toBytes(requestOf(operation, n, tokens, size));
  };

  const opened = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)));
  const latencies: number[] = [];
  const before = performance.eventLoopUtilization();
  const start = performance.now();
  const end = start + seconds * 1000;
  const sendOn = async (connection: Connection) => {
    for (let sent = performance.now(); sent < end; sent = performance.now()) {
      const { status, body } = await connection.send(nextRequest());
      latencies.push(performance.now() - sent);
      if (status !== 200 || !body.subarray(0, 16).includes('{"data":{') || body.includes('"errors":'))
        throw new Error(`The answer is ${status}: ${body}`);
    }
  };
  try {
    await Promise.all(opened.map(sendOn));
  } finally {
    for (const connection of opened) connection.close();
  }
  const { utilization } = performance.eventLoopUtilization(before);
  return { latenciesMs: Float64Array.from(latencies), seconds: (performance.now() - start) / 1000, utilization };
}

/** A thousand of them cost no time while others are measured. */
const differentReads = 1000;
