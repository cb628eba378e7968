import cluster from 'node:cluster';
import { randomUUID } from 'node:crypto';
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

export type ThreadState = {
  readonly pool: { readonly busy: number; readonly idle: number; readonly waiting: number };
  /** The 99th percentile over the last seconds; unset where the process' own metrics have it. */
  readonly eventLoopLagSeconds?: number;
};

/** The partitions of a table that a purge maintains; times in seconds of Unix time. */
export type PartitionState = {
  readonly table: string;
  readonly since: number;
  readonly until: number;
  readonly inDefault: number;
};

/**
 * All metrics of `/metrics`.
 * No label has text that a client made up, except for a bounded number of names of operations that were answered.
 *
 * @param worker a label for each process of one service: each has its own series, so that the counters of a replaced one do not seem to
 * decrease
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the metrics are one list, which is searched by name.
export function createMetrics(worker = '1') {
  const registry = new Registry();
  registry.setDefaultLabels({ worker });
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = <Label extends string>(name: string, help: string, buckets: number[], labelNames: Label[]) =>
    new Histogram({ name, help, buckets, labelNames, registers });
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Gauge({ name, help, labelNames, registers });
  /** A gauge that is absent until something is watched. @returns what watches */
  const watching = (name: string, help: string) => {
    let read: (() => number | boolean) | null = null;
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.reset();
        if (read) this.set(Number(read()));
      },
    });
    return (next: () => number | boolean): void => {
      read = next;
    };
  };
  const threads = new Map<string, () => ThreadState | null>();

  const statesOfThreads = () => [...threads].map(([thread, read]) => ({ thread, ...read() }));
  new Gauge({
    name: 'graph_pool_connections',
    help: 'Connections to the database by state, and requests that wait for one',
    labelNames: ['thread', 'state'],
    registers,
    collect() {
      this.reset();
      for (const { thread, pool = {} } of statesOfThreads())
        for (const [state, count] of Object.entries<number>(pool)) this.set({ thread, state }, count);
    },
  });
  new Gauge({
    name: 'graph_offload_thread_event_loop_lag_seconds',
    help: 'Offload thread event-loop delay, p99 of the last seconds; absent while it has not started',
    registers,
    collect() {
      this.reset();
      for (const { eventLoopLagSeconds } of statesOfThreads())
        if (eventLoopLagSeconds !== undefined) this.set(eventLoopLagSeconds);
    },
  });

  const since = gauge('graph_partitions_since_timestamp_seconds', 'Since when a table has partitions', ['table']);
  const until = gauge('graph_partitions_until_timestamp_seconds', 'Until when a table has partitions without a gap', [
    'table',
  ]);
  const inDefault = gauge(
    'graph_default_partition_rows',
    'Rows of a time that no partition is for; a purge makes it and moves them',
    ['table'],
  );

  return {
    registry,
    labelOf: createOperationLabels(),
    requestsInFlight: gauge('http_requests_in_flight', 'Requests that are being answered', []),
    requestDuration: histogram(
      'http_request_duration_seconds',
      'Time from the headers of a request to the end of its answer',
      durations,
      ['route', 'status'],
    ),
    operations: counter(
      'graph_requests_total',
      'GraphQL requests by the name of the operation and by their first error, or OK',
      ['operation', 'code'],
    ),
    operationDuration: histogram(
      'graph_operation_duration_seconds',
      'Time of GraphQL requests that were executed',
      durations,
      ['operation'],
    ),
    statements: histogram(
      'graph_statements_per_operation',
      'SQL statements of an operation, without the verification of its token',
      [0, 1, 2, 3, 5, 10, 20],
      ['operation'],
    ),
    queries: counter(
      'graph_queries_total',
      'Queries by the server that answered, primary or replica; none without a replica',
      ['server'],
    ),
    planning: histogram(
      'graph_planning_duration_seconds',
      'Time to plan an operation; next to nothing when its plan is known',
      [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
      [],
    ),
    compilation: gauge(
      'graph_compilation',
      '1 while operations are compiled, 0 while Grafast executes all of them',
      [],
    ),
    grants: counter('oauth_token_grants_total', 'Answers with tokens, by what was shown for them', ['grant']),
    refusals: counter('oauth_refusals_total', 'Refused OAuth requests, by error', ['code']),
    throttled: counter(
      'oauth_throttled_total',
      'Requests that came too often, and tries to sign in to a locked account, by what was counted',
      ['limit'],
    ),
    purged: gauge('graph_purge_timestamp_seconds', 'When this process last purged what has expired', []),
    showPartitions(states: readonly PartitionState[]): void {
      for (const { table, ...state } of states) {
        since.set({ table }, state.since);
        until.set({ table }, state.until);
        inDefault.set({ table }, state.inDefault);
      }
    },
    /** Shows this thread's state from now on; a second call with the same name replaces the first. */
    watchThread: (thread: string, read: () => ThreadState | null) => void threads.set(thread, read),
    watchReplica: watching(
      'graph_replica_asked',
      '1 while queries go to the replica, 0 while it is left out; absent without one',
    ),
    watchWebhooks: watching(
      'graph_webhooks_sent',
      '1 while this process sends webhooks, 0 while the database is a copy; absent where others send them',
    ),
    watchFeedLag: watching(
      'graph_feed_lag_seconds',
      'How long the change feed is held back by a transaction that is open, to the second',
    ),
    /** Memory, processor time, event-loop lag and garbage collection; call it once in each process. */
    watchProcess: () => collectDefaultMetrics({ register: registry }),
  };
}

/** In seconds. */
const durations = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Bounds the cardinality: each name takes some forty series. */
const maxNames = 100;

/**
 * Turns names of operations into labels, a bounded number of them.
 * A name becomes a label when its operation was answered without an error. When all are taken, or if it never succeeds, the label is
 * `other`.
 */
export function createOperationLabels(max = maxNames) {
  const known = new Set<string>();
  return (operation: string | undefined, succeeded: boolean): string => {
    if (operation === undefined) return 'none';
    if (succeeded && known.size < max && operation.length <= 100) known.add(operation);
    return known.has(operation) ? operation : 'other';
  };
}

/** A worker's answer: a whole registry in prom-client's form. */
type Snapshot = MetricObjectWithValues<MetricValue<string>>[];
type Asked = { readonly metricsAsked: string };
type Answered = { readonly metricsAnswer: string; readonly snapshot: Snapshot };

/** A worker that hangs does not block the others' metrics. */
const timeoutMs = 1000;

/** In a worker of node:cluster: answers the supervisor with this registry. */
export function answerSupervisor(registry: Registry): void {
  process.on('message', async (message: Partial<Asked> | null) => {
    if (typeof message?.metricsAsked !== 'string') return;
    const snapshot = (await registry.getMetricsAsJSON()) as Snapshot;
    // The worker may have lost its supervisor meanwhile.
    if (process.connected) process.send?.({ metricsAnswer: message.metricsAsked, snapshot } satisfies Answered);
  });
}

/**
 * In the supervisor: the metrics of all workers that answer in time, as text, and how many answered.
 * Prom-client's own `clusterMetrics` fails as a whole if one of them does not answer.
 */
export async function readWorkerMetrics(): Promise<string> {
  const asked = randomUUID();
  const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected());
  const snapshots: Snapshot[] = [];
  const all = Promise.withResolvers<void>();
  const collect = (_worker: unknown, message: Partial<Answered> | null) => {
    if (message?.metricsAnswer !== asked || !message.snapshot) return;
    snapshots.push(message.snapshot);
    if (snapshots.length === workers.length) all.resolve();
  };

  cluster.on('message', collect);
  const deadline = setTimeout(all.resolve, timeoutMs);
  for (const worker of workers) worker?.send({ metricsAsked: asked } satisfies Asked, () => undefined);
  if (workers.length > 0) await all.promise;
  clearTimeout(deadline);
  cluster.off('message', collect);
  const registry = AggregatorRegistry.aggregate(snapshots);
  const help = 'Worker processes that answered this scrape';
  new Gauge({ name: 'graph_workers', help, registers: [registry] }).set(snapshots.length);
  return registry.metrics();
}
