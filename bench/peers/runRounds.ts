import type { Tokens } from './data/issueTokens.ts';
import type { Size } from './data/sizes.ts';
import type { Load } from './load/startLoad.ts';
import { postgresMs, processMs } from './measure/processTimes.ts';
import type { OperationName } from './operations.ts';
import type { Options } from './options.ts';
import type { Peer } from './servers/startPeer.ts';

/** A peer on a data set. */
export type Contestant = {
  readonly name: string;
  readonly peer: Peer;
  /** PGDATA of its database. */
  readonly cluster: string;
  readonly size: Size;
  readonly tokens: Tokens;
  /** The work before its turn. */
  readonly prepare?: () => void;
};

export type Rounds = Pick<Options, 'operations' | 'rounds' | 'seconds' | 'connections'> & {
  readonly contestants: readonly Contestant[];
  readonly load: Load;
  /** Gives the first number of requests that can be sent once only. */
  readonly numbers: () => number;
  readonly report: (line: string) => void;
};

/** One contestant and operation, all rounds together. */
export type Measured = {
  readonly name: string;
  readonly operation: OperationName;
  /** The median of the rounds. */
  readonly requestsPerSecond: number;
  readonly requestsPerSecondOfRounds: readonly number[];
  /** The median of the rounds' medians. */
  readonly p50Ms: number;
  readonly p50MsOfRounds: readonly number[];
  /** The 99th percentile of all requests of all rounds. */
  readonly p99Ms: number;
  /** The peer's processor time for each request, all of its threads together. */
  readonly nodeMs: number;
  /** PostgreSQL's processor time for each request. */
  readonly postgresMs: number;
  /** The greatest part of a round that the sending process was busy. */
  readonly loadUtilization: number;
};

/**
 * Lets all contestants serve all operations in turn, again and again: whatever the machine does meanwhile happens to all of them.
 * Every other round goes backwards. The first one is not counted: they compile and fill their caches, which takes many requests.
 */
export async function runRounds(settings: Rounds): Promise<Measured[]> {
  const { contestants, operations, rounds, report } = settings;
  const turns = operations.flatMap((operation) =>
    contestants.map((contestant) => ({ operation, contestant, runs: [] as Run[] })),
  );
  for (let round = 0; round <= rounds; round++) {
    for (const { contestant, operation, runs } of round % 2 === 0 ? turns : turns.toReversed()) {
      const connections = Math.max(settings.connections, round === 0 ? connectionsToWarmUp : 0);
      const run = await runOnce({ ...settings, connections }, contestant, operation);
      if (round > 0) runs.push(run);
    }
    report(round === 0 ? 'warmed up' : `round ${round} of ${rounds}`);
  }
  return turns.map(({ contestant: { name }, operation, runs }) => ({ name, operation, ...summarize(runs) }));
}

const connectionsToWarmUp = 32;

type Run = { latenciesMs: Float64Array; seconds: number; utilization: number; nodeMs: number; postgresMs: number };

async function runOnce(settings: Rounds, contestant: Contestant, operation: OperationName): Promise<Run> {
  const { load, numbers, connections, seconds } = settings;
  const { name, peer, cluster, size, tokens, prepare } = contestant;
  prepare?.();
  const computed = async () => ({ node: await processMs(peer.pid), postgres: await postgresMs(cluster) });

  const before = await computed();
  const order = { port: peer.port, operation, tokens, size, connections, seconds, from: numbers() };
  const result = await load.run(order).catch((error: unknown) => {
    throw new Error(`${name} fails on ${operation}`, { cause: error });
  });
  const after = await computed();
  return { ...result, nodeMs: after.node - before.node, postgresMs: after.postgres - before.postgres };
}

function summarize(runs: readonly Run[]): Omit<Measured, 'name' | 'operation'> {
  const latencies = Float64Array.from(runs.flatMap(({ latenciesMs }) => [...latenciesMs])).sort();
  const sum = (of: (run: Run) => number) => runs.reduce((total, run) => total + of(run), 0);
  const requestsPerSecondOfRounds = runs.map(({ latenciesMs, seconds }) => latenciesMs.length / seconds);
  const p50MsOfRounds = runs.map(({ latenciesMs }) => median(latenciesMs));
  return {
    requestsPerSecond: median(requestsPerSecondOfRounds),
    requestsPerSecondOfRounds,
    p50Ms: median(p50MsOfRounds),
    p50MsOfRounds,
    p99Ms: quantile(latencies, 0.99),
    nodeMs: sum(({ nodeMs }) => nodeMs) / latencies.length,
    postgresMs: sum(({ postgresMs }) => postgresMs) / latencies.length,
    loadUtilization: Math.max(...runs.map(({ utilization }) => utilization)),
  };
}

export const median = (numbers: ArrayLike<number>) => quantile(Float64Array.from(numbers).sort(), 0.5);

function quantile(sorted: ArrayLike<number>, part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
