import { Pool, type PoolClient, type PoolConfig } from 'pg';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { traceStatements } from './traceStatements.ts';
import { DatabaseUnavailable } from './unavailable.ts';

export type PoolSettings = Pick<Config, 'poolSize' | 'poolWaitMs' | 'statementTimeoutMs'>;

/**
 * The running server's connections, all as the authenticator. A statement ends after `statementTimeoutMs` with SQLSTATE
 * 57014; `connect` and `query` fail with {@link DatabaseUnavailable} when no connection is had within `poolWaitMs`.
 */
export function createPool(authUrl: string, config: PoolSettings, log: Log): RenewablePool {
  const { poolSize, poolWaitMs, statementTimeoutMs } = config;
  return createBoundedPool(authUrl, log, {
    max: poolSize,
    connectionTimeoutMillis: poolWaitMs,
    statement_timeout: statementTimeoutMs,
  });
}

export type RenewablePool = Pool & {
  /**
   * From now on every connection that is handed out is a new one. A session keeps the statements that it has prepared with the
   * types of their columns, and refuses them (SQLSTATE 0A000) when a migration has changed these.
   */
  renew(): void;
};

/** A few connections as the owner, for migrations, provisioning and admin commands; without a statement timeout. */
export function createOwnerPool(ownerUrl: string, log: Log): Pool {
  return createBoundedPool(ownerUrl, log, { max: 4, connectionTimeoutMillis: 10_000 });
}

function createBoundedPool(url: string, log: Log, options: PoolConfig): BoundedPool {
  const pool = new BoundedPool({
    connectionString: url,
    application_name: 'graph-query-service',
    // Statements that are queued without waiting travel together: begin, settings, query and commit in one round trip.
    pipeline: true,
    ...options,
  });
  // An idle connection was lost; the next request opens another. The second argument holds the password: never log it.
  pool.on('error', (error) => log.warn({ error }, 'lost an idle database connection'));
  return pool;
}

type Connected = (error: Error | undefined, client: PoolClient | undefined, done: (release?: boolean) => void) => void;

class BoundedPool extends Pool implements RenewablePool {
  #current = new WeakSet<PoolClient>();

  constructor(options: PoolConfig) {
    super(options);
    this.on('connect', (client) => {
      this.#current.add(client);
      traceStatements(client);
      // The pool hears of idle connections only. One that is lost while it is handed out fails the next statement, too; unheard,
      // the event would end the process.
      client.on('error', () => undefined);
    });
  }

  renew(): void {
    this.#current = new WeakSet();
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<PoolClient> | undefined {
    if (!callback) return this.#connectOnce();
    super.connect((error, client, done) => {
      if (error) return callback(new DatabaseUnavailable({ cause: error }), client, done);
      if (!client || this.#current.has(client)) return callback(undefined, client, done);
      done(true);
      this.connect(callback);
    });
    return undefined;
  }

  async #connectOnce(): Promise<PoolClient> {
    const client = await super.connect().catch((error: unknown) => {
      throw new DatabaseUnavailable({ cause: error });
    });
    if (this.#current.has(client)) return client;
    client.release(true);
    return this.#connectOnce();
  }
}
