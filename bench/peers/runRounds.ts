import type { Tokens } from './data/issueTokens.ts';
import type { Data } from './data/openData.ts';
import type { Size } from './data/sizes.ts';
import type { Load } from './load/startLoad.ts';
import { postgresMs, processMs } from './measure/processTimes.ts';
import type { OperationName } from './operations.ts';
import type { Peer, PeerName } from './servers/startPeer.ts';

export type Rounds = {
  readonly peers: readonly Peer[];
  readonly operations: readonly OperationName[];
  readonly rounds: number;
  /** Of each peer and operation in each round. */
  readonly seconds: number;
  readonly connections: number;
  readonly size: Size;
  readonly tokens: Tokens;
  readonly data: Data;
  readonly load: Load;
  readonly numbers: () => number;
  readonly report: (line: string) => void;
};

/** Of one peer and operation, all rounds together. */
export type Measured = {
  readonly peer: PeerName;
  readonly operation: OperationName;
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** For each request. */
  readonly nodeMs: number;
  readonly postgresMs: number;
  /** The most that the sending process was busy. */
  readonly loadUtilization: number;
  /** Of each round. */
  readonly everyRequestsPerSecond: readonly number[];
};

/**
 * Lets all peers serve all operations in turn, again and again: whatever the machine does meanwhile happens to all of them. Every
 * other round goes backwards. The first one is not counted: peers compile and fill their caches.
 */
export async function runRounds(settings: Rounds): Promise<Measured[]> {
  const { peers, operations, rounds, report } = settings;
  const turns = operations.flatMap((operation) => peers.map((peer) => ({ operation, peer, runs: [] as Run[] })));
  for (const { peer, operation } of turns) await runOnce(settings, peer, operation);
  for (let round = 1; round <= rounds; round++) {
    for (const turn of round % 2 === 1 ? turns : turns.toReversed()) {
      turn.runs.push(await runOnce(settings, turn.peer, turn.operation));
    }
    report(`round ${round} of ${rounds}`);
  }
  return turns.map(({ peer, operation, runs }) => ({ peer: peer.name, operation, ...summarize(runs) }));
}

type Run = { latenciesMs: Float64Array; seconds: number; utilization: number; nodeMs: number; postgresMs: number };

async function runOnce(settings: Rounds, peer: Peer, operation: OperationName): Promise<Run> {
  const { load, data, numbers, connections, seconds, size, tokens } = settings;
  const before = [await processMs(peer.pid), await postgresMs(data.cluster)] as const;
  const order = { port: peer.port, operation, tokens, size, connections, seconds, from: numbers() };
  const result = await load.run(order).catch((error: unknown) => {
    throw new Error(`${peer.name} fails on ${operation}`, { cause: error });
  });
  const after = [await processMs(peer.pid), await postgresMs(data.cluster)] as const;
  return { ...result, nodeMs: after[0] - before[0], postgresMs: after[1] - before[1] };
}

function summarize(runs: readonly Run[]) {
  const latencies = Float64Array.from(runs.flatMap(({ latenciesMs }) => [...latenciesMs])).sort();
  const requests = latencies.length;
  const sum = (of: (run: Run) => number) => runs.reduce((total, run) => total + of(run), 0);
  return {
    requests,
    requestsPerSecond: requests / sum(({ seconds }) => seconds),
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    nodeMs: sum(({ nodeMs }) => nodeMs) / requests,
    postgresMs: sum(({ postgresMs }) => postgresMs) / requests,
    loadUtilization: Math.max(...runs.map(({ utilization }) => utilization)),
    everyRequestsPerSecond: runs.map(({ latenciesMs, seconds }) => latenciesMs.length / seconds),
  };
}

const quantile = (sorted: Float64Array, part: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
