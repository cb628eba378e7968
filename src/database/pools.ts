import { Pool, type PoolClient, type PoolConfig } from 'pg';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { callerPath, WaitBudgetSpentError, withinWaitBudget } from '../scheduling/caller.ts';
import { createPermits, type Permits } from '../scheduling/permits.ts';
import { isRetired } from './retire.ts';
import { serverClient } from './serverClient.ts';
import { socketOf } from './socketOf.ts';
import { traceStatements } from './traceStatements.ts';
import { DatabaseUnavailable } from './unavailable.ts';

export type PoolSettings = Pick<Config, 'poolSize' | 'poolWaitMs' | 'statementTimeoutMs'> &
  Partial<Pick<Config, 'preparedStatements'>>;

/**
 * The running server's connections, all as the authenticator. A statement ends after `statementTimeoutMs` with SQLSTATE
 * 57014; `connect` and `query` fail with {@link DatabaseUnavailable} when no connection is had within `poolWaitMs`, of which a
 * request may have spent some before (`withinWaitBudget`), and a statement when PostgreSQL has not ended it a second later than it
 * should: then the connection is dead without a sign.
 *
 * @param waitMs how long to wait for a connection that others use; as long as for a new one unless said
 */
export function createPool(
  authUrl: string,
  { poolSize, poolWaitMs, statementTimeoutMs, preparedStatements = true }: PoolSettings,
  log: Log,
  waitMs = poolWaitMs,
): RenewablePool {
  return createBoundedPool(authUrl, log, {
    max: poolSize,
    connectionTimeoutMillis: waitMs,
    statement_timeout: statementTimeoutMs,
    Client: serverClient({ connectMs: poolWaitMs, preparesStatements: preparedStatements }),
    silence: { doubtMs: poolWaitMs, giveUpMs: statementTimeoutMs + graceMs },
  });
}

export type RenewablePool = Pool & {
  /**
   * From now on every connection that is handed out is a new one. A session keeps the statements that it has prepared with the
   * types of their columns, and refuses them (SQLSTATE 0A000) when a migration has changed these.
   */
  renew(): void;
  /** Calls back when a connection was lost, could not be had, or has been silent for suspiciously long. */
  onTrouble(listener: () => void): void;
  /**
   * Remembers what each connection has received.
   *
   * @returns what breaks those off that have received nothing since, with {@link DatabaseUnavailable} for whoever waits for them
   */
  rememberSilence(): () => void;
};

/** Nor any other of its pool, which are as old: their server is not the one to ask. */
export function retireAll(client: PoolClient): void {
  poolsOf.get(client)?.renewSometimes();
}

/** A few connections as the owner, for migrations, provisioning and admin commands; without a statement timeout. */
export function createOwnerPool(ownerUrl: string, log: Log): Pool {
  return createBoundedPool(ownerUrl, log, { max: 4, connectionTimeoutMillis: 10_000 });
}

/** Connections beyond the pool's size, for tenants that have none while others have all. */
const connectionReserve = 2;
const graceMs = 1000;
const renewEveryMs = 1000;

const poolsOf = new WeakMap<PoolClient, BoundedPool>();

type BoundedPoolConfig = PoolConfig & {
  readonly max: number;
  readonly connectionTimeoutMillis: number;
  /** How long a connection that is in use may receive nothing until it is trouble, and until it is the end; for ever unless said. */
  readonly silence?: { readonly doubtMs: number; readonly giveUpMs: number };
};

function createBoundedPool(url: string, log: Log, options: BoundedPoolConfig): BoundedPool {
  const pool = new BoundedPool({
    connectionString: url,
    application_name: 'graph-query-service',
    // Statements that are queued without waiting travel together: begin, settings, query and commit in one round trip.
    pipeline: true,
    ...options,
  });
  // The next request opens another; if it cannot, the watch tells. The second argument holds the password: never log it.
  pool.on('error', (error) => log.debug({ error }, 'lost an idle database connection'));
  return pool;
}

type Connected = (error: Error | undefined, client: PoolClient | undefined, done: (release?: boolean) => void) => void;

class BoundedPool extends Pool implements RenewablePool {
  #current = new WeakSet<PoolClient>();
  readonly #all = new Set<PoolClient>();
  #tellTrouble: () => void = () => undefined;
  #renewedAt = Number.NEGATIVE_INFINITY;
  readonly #permits: Permits;
  /** What gives back the permit of a connection that is in use. */
  readonly #releases = new Map<PoolClient, () => void>();

  constructor({ silence, ...options }: BoundedPoolConfig) {
    super({ ...options, max: options.max + connectionReserve });
    this.#permits = createPermits({
      maxHeld: options.max,
      reserve: connectionReserve,
      maxWaiting: Number.POSITIVE_INFINITY,
      waitMs: options.connectionTimeoutMillis,
      refusal: (cause) => this.#unavailable(cause),
    });
    // They wait for a permit, and not in the pool.
    Object.defineProperty(this, 'waitingCount', { get: () => this.#permits.waiting });
    this.on('release', (_error, client) => {
      this.#releases.get(client)?.();
      this.#releases.delete(client);
    });
    this.on('connect', (client) => {
      this.#current.add(client);
      this.#all.add(client);
      poolsOf.set(client, this);
      traceStatements(client);
      // The pool hears of idle connections only. One that is lost while it is handed out fails the next statement, too; unheard,
      // the event would end the process.
      client.on('error', () => this.#tellTrouble());
    });
    this.on('remove', (client) => this.#all.delete(client));
    if (silence) this.#endSilence(silence);
  }

  #endSilence({ doubtMs, giveUpMs }: NonNullable<BoundedPoolConfig['silence']>): void {
    this.on('connect', (client) => {
      const socket = socketOf(client);
      socket.on('timeout', () => {
        this.#tellTrouble();
        if (socket.timeout === doubtMs && giveUpMs > doubtMs) return void socket.setTimeout(giveUpMs - doubtMs);
        // The others are as old, and may be as dead.
        this.renew();
        breakOff(client);
      });
    });
    this.on('acquire', (client) => void socketOf(client).setTimeout(Math.min(doubtMs, giveUpMs)));
    this.on('release', (_error, client) => void socketOf(client).setTimeout(0));
  }

  renew(): void {
    this.#current = new WeakSet();
  }

  /** If that does not help, it would not help a moment later. */
  renewSometimes(): void {
    if (performance.now() - this.#renewedAt < renewEveryMs) return;
    this.#renewedAt = performance.now();
    this.renew();
  }

  onTrouble(listener: () => void): void {
    this.#tellTrouble = listener;
  }

  rememberSilence(): () => void {
    const received = new Map([...this.#all].map((client) => [client, socketOf(client).bytesRead]));
    return () => {
      for (const [client, bytes] of received) if (socketOf(client).bytesRead === bytes) breakOff(client);
    };
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<PoolClient> | undefined {
    const connected = this.#connectPatiently();
    if (!callback) return connected;
    connected.then(
      (client) => callback(undefined, client, (release) => client.release(release)),
      (error: Error) => callback(error, undefined, () => undefined),
    );
    return undefined;
  }

  async #connectPatiently(): Promise<PoolClient> {
    const connected = this.#connectOnce();
    try {
      return await withinWaitBudget(connected);
    } catch (error) {
      if (!(error instanceof WaitBudgetSpentError)) throw error;
      // It comes for nobody.
      connected.then(
        (client) => client.release(),
        () => undefined,
      );
      throw this.#unavailable(error);
    }
  }

  async #connectOnce(): Promise<PoolClient> {
    const release = await this.#permits.acquire(callerPath());
    for (;;) {
      const client = await super.connect().catch((error: unknown) => {
        release();
        throw this.#unavailable(error);
      });
      if (this.#isUsable(client)) {
        this.#releases.set(client, release);
        return client;
      }
      client.release(true);
    }
  }

  #isUsable(client: PoolClient): boolean {
    return this.#current.has(client) && !isRetired(client);
  }

  #unavailable(cause: unknown): DatabaseUnavailable {
    this.#tellTrouble();
    return new DatabaseUnavailable({ cause });
  }
}

/** Whoever waits for it hears of it at once; it is not used again. */
function breakOff(client: PoolClient): void {
  socketOf(client).destroy(new DatabaseUnavailable());
}
