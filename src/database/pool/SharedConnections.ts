import type { PoolClient } from 'pg';
import { type Clock, systemClock } from '../../scheduling/clock.ts';
import { isPreparing } from '../driver/preparedStatements.ts';

export type SharedConnectionsOptions = {
  readonly maxConnections: number;
  /** Opens one if there is one for it now; null when all are in use. */
  readonly open: () => Promise<PoolClient> | null;
  readonly isUsable: (client: PoolClient) => boolean;
};

/**
 * Pipelining across requests: a few connections with several statements in flight.
 * Each is a transaction of its own. PostgreSQL goes from one to the next without waiting for Node.js, and fewer of its processes
 * alternate on the same processors. The price is head-of-line blocking, so each statement must be known to be quick
 * (`QuickStatements`). A connection takes no more while it prepares a statement, since those behind would fail with it; while it is
 * overdue, since it may be half-open, and writing to it would put off the read timeout; and once it is retired or evicted.
 */
export class SharedConnections {
  readonly #options: SharedConnectionsOptions;
  readonly #clock: Clock;
  readonly #connections = new Set<Shared>();
  /** Those that are being opened included. */
  #count = 0;

  constructor(options: SharedConnectionsOptions, clock: Clock = systemClock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** Null when each has all that it may have; else to be released. @throws as `open` */
  async acquire(): Promise<SharedConnection | null> {
    const free = this.#leastUsed();
    const opened = !free || free.inFlight > 0 ? this.#open() : null;
    const shared = opened ? await opened : free;
    if (!shared) return null;
    if (shared.inFlight++ === 0) shared.waitsSince = this.#clock.now();
    return { client: shared.client, release: () => this.#release(shared) };
  }

  #leastUsed(): Shared | null {
    let least: Shared | null = null;
    for (const shared of this.#connections) {
      if (shared.inFlight >= (least?.inFlight ?? maxInFlight)) continue;
      if (this.#clock.now() - shared.waitsSince > overdueMs || isPreparing(shared.client)) continue;
      if (this.#options.isUsable(shared.client)) least = shared;
    }
    return least;
  }

  #open(): Promise<Shared> | null {
    const opened = this.#count < this.#options.maxConnections ? this.#options.open() : null;
    if (!opened) return null;
    this.#count++;
    return opened.then(
      (client) => {
        const shared = { client, inFlight: 0, waitsSince: 0 };
        this.#connections.add(shared);
        return shared;
      },
      (error: unknown) => {
        this.#count--;
        throw error;
      },
    );
  }

  #release(shared: Shared): void {
    shared.waitsSince = this.#clock.now();
    if (--shared.inFlight > 0) return;
    this.#connections.delete(shared);
    this.#count--;
    shared.client.release();
  }
}

export type SharedConnection = { readonly client: PoolClient; release(): void };

type Shared = {
  readonly client: PoolClient;
  inFlight: number;
  /** When the last answer came, or the first statement was sent. */
  waitsSince: number;
};

/**
 * How many statements are in flight on a connection.
 * With more, a connection's prepared statements could evict one that is being prepared (`preparedStatements.ts`).
 */
const maxInFlight = 4;
/** Several times what PostgreSQL gives those in flight. */
const overdueMs = 100;
