import { LRUCache } from 'lru-cache';
import { DatabaseError } from 'pg';

/** How a statement is run: on a shared connection, alone for a trial, or alone for as long as it takes. */
export type Pace = 'shared' | 'trial' | 'alone';

/** PostgreSQL's own limit for a statement that is quick, of which a busy machine takes a part. */
export const quickTimeout = '10ms';

/**
 * Which statements are quick, by trial and exponential backoff.
 * These may share a connection. PostgreSQL judges: a trial has a statement timeout, and so has each run on a shared connection. A
 * statement that does not end within it has done nothing. It is run again alone, and so are its next runs, twice as many each time.
 * Measured from here, a statement would seem slow whenever Node.js is. The rows of tenants differ, so each has entries of its own.
 */
export class QuickStatements {
  readonly #known = new LRUCache<string, Known>({ max: maxKnown });

  paceOf(key: string): Pace {
    const known = this.#known.get(key);
    if (!known) return 'trial';
    if (known.runsAlone === 0) return known.isQuick ? 'shared' : 'trial';
    known.runsAlone--;
    return 'alone';
  }

  wasQuick(key: string): void {
    const known = this.#known.get(key) ?? this.#add(key);
    known.isQuick = true;
    known.backoff = Math.max(minBackoff, known.backoff - 1);
  }

  wasSlow(key: string): void {
    const known = this.#known.get(key) ?? this.#add(key);
    known.isQuick = false;
    known.runsAlone = known.backoff;
    known.backoff = Math.min(maxBackoff, known.backoff * 2);
  }

  #add(key: string): Known {
    const known = { isQuick: false, runsAlone: 0, backoff: minBackoff };
    this.#known.set(key, known);
    return known;
  }
}

/** SQLSTATE query_canceled. */
export const isTimeout = (error: unknown) => error instanceof DatabaseError && error.code === '57014';

type Known = { isQuick: boolean; runsAlone: number; backoff: number };

/** Of about 200 bytes each. */
const maxKnown = 10_000;
const minBackoff = 4;
const maxBackoff = 256;
