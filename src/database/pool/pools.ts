import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { createFairQueue, type FairQueue, type Permit } from 'fair-queue';
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import type { Config } from '../../config.ts';
import type { Log } from '../../log.ts';
import type { ThreadState } from '../../observability/metrics.ts';
import { isTraced, tracer } from '../../observability/traced.ts';
import { callerPath, refusedAs, WaitBudgetSpentError, withinWaitBudget } from '../../scheduling/caller.ts';
import { systemClock } from '../../scheduling/clock.ts';
import { isRetired, serverClient, socketOf } from '../driver/driver.ts';
import { DatabaseUnavailable } from './unavailable.ts';

export type PoolSettings = Pick<Config, 'poolSize' | 'poolWaitMs' | 'statementTimeoutMs'> &
  Partial<Pick<Config, 'preparedStatements'>>;

/**
 * The running server's connection pool, all as the authenticator.
 * A statement ends after `statementTimeoutMs` with SQLSTATE 57014. `connect` and `query` fail with {@link DatabaseUnavailable} when they
 * get no connection within `poolWaitMs`; a request may have spent part of that before (`withinWaitBudget`). So does a statement that
 * PostgreSQL has not ended a second after its timeout: then the connection is half-open.
 *
 * @param waitMs how long to wait for a connection that others use; as long as for a new one unless given
 */
export function createPool(
  authUrl: string,
  { poolSize, poolWaitMs, statementTimeoutMs, preparedStatements = true }: PoolSettings,
  log: Log,
  waitMs = poolWaitMs,
): EvictablePool {
  const pool = createBoundedPool(authUrl, log, {
    max: poolSize,
    // Otherwise a burst after a quiet time would begin by connecting, logging in and preparing.
    min: poolSize,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
    connectionTimeoutMillis: waitMs,
    statement_timeout: statementTimeoutMs,
    Client: serverClient({
      connectMs: poolWaitMs,
      preparesStatements: preparedStatements,
      onStalePlan: () => pool.evictAll(),
    }),
    readTimeout: { suspectAfterMs: poolWaitMs, terminateAfterMs: statementTimeoutMs + graceMs },
  });
  return pool;
}

/** Evicts all connections of a client's pool: all lead to a server that is no longer the primary. */
export function evictPoolOf(client: PoolClient): void {
  poolsOf.get(client)?.evictAllThrottled();
}

/** A few connections as the owner, for migrations, provisioning and admin; no statement timeout. */
export function createOwnerPool(ownerUrl: string, log: Log): Pool {
  return createBoundedPool(ownerUrl, log, { max: 4, connectionTimeoutMillis: 10_000 });
}

/** Works with a pool of the owner's connections, and closes it. */
export async function withOwnerPool<T>(ownerUrl: string, log: Log, work: (owner: Pool) => Promise<T>): Promise<T> {
  const owner = createOwnerPool(ownerUrl, log);
  try {
    return await work(owner);
  } finally {
    await owner.end();
  }
}

/** Connections beyond the pool's size, for tenants that have none while others have all. */
const connectionReserve = 2;
/** The estimate of how long a connection is in use. */
const costMs = 2;
/**
 * By how much tenants may differ for each connection and still be served in the order of arrival.
 * Otherwise a tenant that has just had a little more would wait for all the others, though all are equal in the long run (`bench peers`).
 */
const burstMsOfConnection = 50;
const graceMs = 1000;
/** Shorter than the time after which a proxy or firewall forgets an idle connection. */
const keepAliveAfterMs = 60_000;
const evictEveryMs = 1000;

const poolsOf = new WeakMap<PoolClient, EvictablePool>();

type BoundedPoolConfig = PoolConfig & {
  readonly max: number;
  readonly connectionTimeoutMillis: number;
  /** When a connection in use that receives no byte is suspected, and destroyed; never unless given. */
  readonly readTimeout?: { readonly suspectAfterMs: number; readonly terminateAfterMs: number };
};

function createBoundedPool(url: string, log: Log, options: BoundedPoolConfig): EvictablePool {
  const pool = new EvictablePool({
    connectionString: url,
    application_name: 'graph-query-service',
    // Statements queued without waiting are sent together: begin, settings, query and commit in one round trip.
    pipeline: true,
    ...options,
  });
  // The next request opens another; if it cannot, the readiness watch logs that. The second argument holds the password: never log it.
  pool.on('error', (error) => log.debug({ error }, 'lost an idle database connection'));
  return pool;
}

type Connected = (error: Error | undefined, client: PoolClient | undefined, done: (release?: boolean) => void) => void;

/** The pools of this service: a bounded number of connections, handed out by fair queueing. */
export class EvictablePool extends Pool {
  #current = new WeakSet<PoolClient>();
  readonly #all = new Set<PoolClient>();
  #reportTrouble: () => void = () => undefined;
  #evictedAt = Number.NEGATIVE_INFINITY;
  readonly #queue: FairQueue;
  /** The permits of the connections in use. */
  readonly #permits = new WeakMap<PoolClient, Permit>();

  constructor({ readTimeout, ...options }: BoundedPoolConfig) {
    super({ ...options, max: options.max + connectionReserve });
    const { max, connectionTimeoutMillis } = options;
    this.#queue = createFairQueue(
      { slots: max, reserve: connectionReserve, burstMs: max * burstMsOfConnection, waitMs: connectionTimeoutMillis },
      systemClock,
    );
    // Requests queue for a permit, and not in the pool.
    Object.defineProperty(this, 'waitingCount', { get: () => this.#queue.waiting });
    this.on('release', (_error, client) => {
      this.#permits.get(client)?.release();
      this.#permits.delete(client);
    });
    this.on('connect', (client) => {
      this.#current.add(client);
      this.#all.add(client);
      poolsOf.set(client, this);
      traceStatements(client);
      // The pool handles only errors of idle connections. If a connection is lost while in use, the next statement fails, too. Without a
      // listener the event would end the process.
      client.on('error', () => this.#reportTrouble());
    });
    this.on('remove', (client) => this.#all.delete(client));
    if (readTimeout) this.#watchReadTimeout(readTimeout);
  }

  #watchReadTimeout({ suspectAfterMs, terminateAfterMs }: NonNullable<BoundedPoolConfig['readTimeout']>): void {
    this.on('connect', (client) => {
      const socket = socketOf(client);
      socket.on('timeout', () => {
        this.#reportTrouble();
        const restMs = terminateAfterMs - suspectAfterMs;
        if (socket.timeout === suspectAfterMs && restMs > 0) return void socket.setTimeout(restMs);
        // The other connections are as old, and may be half-open, too.
        this.evictAll();
        destroyConnection(client);
      });
    });
    this.on('acquire', (client) => void socketOf(client).setTimeout(Math.min(suspectAfterMs, terminateAfterMs)));
    this.on('release', (_error, client) => void socketOf(client).setTimeout(0));
  }

  /**
   * Evicts every connection: the next one that is handed out is new.
   * A session keeps its prepared statements with the types of their columns. After a migration has changed these types, it rejects them
   * (SQLSTATE 0A000).
   */
  evictAll(): void {
    this.#current = new WeakSet();
  }

  /** Evicts at most once a second: if new connections fail, others would fail a moment later, too. */
  evictAllThrottled(): void {
    if (performance.now() - this.#evictedAt < evictEveryMs) return;
    this.#evictedAt = performance.now();
    this.evictAll();
  }

  /** Calls back when a connection was lost, cannot be opened, or received nothing for `suspectAfterMs`. */
  onTrouble(listener: () => void): void {
    this.#reportTrouble = listener;
  }

  /**
   * Records how many bytes each connection has received.
   *
   * @returns what destroys those that have received nothing since; a pending statement fails with {@link DatabaseUnavailable}
   */
  snapshotBytesRead(): () => void {
    const received = new Map([...this.#all].map((client) => [client, socketOf(client).bytesRead]));
    return () => {
      for (const [client, bytes] of received) if (socketOf(client).bytesRead === bytes) destroyConnection(client);
    };
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<PoolClient> | undefined {
    const connected = this.#connectWithinBudget();
    if (!callback) return connected;
    connected.then(
      (client) => callback(undefined, client, (release) => client.release(release)),
      (error: Error) => callback(error, undefined, () => undefined),
    );
    return undefined;
  }

  async #connectWithinBudget(): Promise<PoolClient> {
    const connected = this.#connectOnce();
    try {
      return await withinWaitBudget(connected);
    } catch (error) {
      if (!(error instanceof WaitBudgetSpentError)) throw error;
      // The connection arrives after its request has given up.
      connected.then(
        (client) => client.release(),
        () => undefined,
      );
      throw this.#unavailable(error);
    }
  }

  async #connectOnce(): Promise<PoolClient> {
    const permit = await this.#queue
      .acquire({ path: callerPath(), costMs })
      .catch(refusedAs((cause) => this.#unavailable(cause)));
    for (;;) {
      const client = await super.connect().catch((error: unknown) => {
        permit.release();
        throw this.#unavailable(error);
      });
      if (this.#isUsable(client)) {
        this.#permits.set(client, permit);
        return client;
      }
      client.release(true);
    }
  }

  #isUsable(client: PoolClient): boolean {
    return this.#current.has(client) && !isRetired(client);
  }

  #unavailable(cause: unknown): DatabaseUnavailable {
    this.#reportTrouble();
    return new DatabaseUnavailable({ cause });
  }
}

/** Fails the pending query at once; the connection is not used again. */
function destroyConnection(client: PoolClient): void {
  socketOf(client).destroy(new DatabaseUnavailable());
}

type Callback = (error: Error | null, result: unknown) => void;

/** The argument of the driver's `query`: a text, a configuration, or a query that calls back by itself. */
type Asked = string | { text?: string; callback?: Callback; submit?: unknown };

/**
 * Makes each statement of this connection a span, by OpenTelemetry's conventions for databases.
 * The span belongs to the request that waits for the statement. It has the command and its relations, never the text or a value.
 */
function traceStatements(client: PoolClient): void {
  const query = client.query as (...values: unknown[]) => unknown;
  const traced = (...values: unknown[]) => {
    const summary = isTraced() ? summarize(textOf(values[0] as Asked)) : null;
    if (summary === null) return query.apply(client, values);

    const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': summary };
    const span = tracer.startSpan(summary, { kind: SpanKind.CLIENT, attributes });
    const end = (error?: unknown) => {
      if (error) span.setStatus({ code: SpanStatusCode.ERROR });
      const state = error instanceof Error && 'code' in error ? String(error.code) : '';
      if (state) span.setAttribute('db.response.status_code', state);
      span.end();
    };
    const endBefore =
      (callback: Callback): Callback =>
      (error, result) => {
        end(error);
        callback(error, result);
      };

    const [asked] = values as [Asked];
    if (typeof asked === 'object' && asked.submit && asked.callback) {
      asked.callback = endBefore(asked.callback);
      return query.apply(client, values);
    }
    const last = values.at(-1);
    if (typeof last === 'function') return query.apply(client, [...values.slice(0, -1), endBefore(last as Callback)]);
    const result = query.apply(client, values) as Promise<unknown>;
    result.then(() => end(), end);
    return result;
  };
  client.query = traced as typeof client.query;
}

const textOf = (asked: Asked): string => (typeof asked === 'string' ? asked : (asked.text ?? ''));

/** Such as `select app_public.users, app_public.cards`; null for a statement that only frames others. */
function summarize(text: string): string | null {
  const command = /^\s*([a-z]+)/i.exec(text)?.[1]?.toLowerCase() ?? 'statement';
  const relations = [...text.matchAll(/"?\b(app_public|app_hidden|oauth|graphile_migrate)\b"?\."?(\w+)/g)];
  if (relations.length === 0 && framing.has(command)) return null;
  const names = new Set(relations.map(([, schema, name]) => `${schema}.${name}`));
  return [command, [...names].slice(0, 5).join(', ')].filter(Boolean).join(' ');
}

/** A transaction's settings are a select without a relation. */
const framing: ReadonlySet<string> = new Set(['begin', 'savepoint', 'release', 'rollback', 'select', 'set']);

/** A pool's connections by state, and how many requests wait for one. */
export const stateOf = ({ totalCount, idleCount, waitingCount }: Pool): ThreadState['pool'] => ({
  busy: totalCount - idleCount,
  idle: idleCount,
  waiting: waitingCount,
});
