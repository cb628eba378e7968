import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Pool, QueryResultRow } from 'pg';
import { noRequest } from '../../observability/requestFields.ts';
import { oauthSettings } from '../../token/settings.ts';
import { queryOnce } from '../../token/transaction.ts';
import { temporarilyUnavailable } from '../errors.ts';

export type Counter = ReturnType<typeof createCounter>;

/** Whether the count exceeds its limit, and the whole seconds until the window ends. */
export type Count = { readonly tooMany: boolean; readonly retryAfterSeconds: number };

export type CounterOptions = {
  /** Connections as the authenticator. */
  pool: Pool;
  /** Hashes subjects, so that no address, account or client is stored in clear. */
  key: Buffer;
  /** Lower case with underscores. */
  name: string;
  limit: number;
  windowSeconds: number;
  /**
   * Whether a subject over the limit is refused from memory for a second, before it is counted again.
   * So a flood costs the database one statement in a second. It must be off for counts that are taken back.
   */
  inMemory: boolean;
};

/**
 * Fixed-window rate limiting, counted in the database, so that all servers share the counts.
 * Windows begin and end by PostgreSQL's clock, since the clocks of servers differ. A window that ends later than a new one would is over,
 * too: the clock was set back. It fails closed: {@link temporarilyUnavailable} when the database does not answer.
 */
export function createCounter({ pool, key, name, limit, windowSeconds, inMemory }: CounterOptions) {
  const refused = inMemory ? new LRUCache<string, number>({ max: 1000, ttl: 1000 }) : null;
  const keyOf = (subject: string) => `${name}:${createHmac('sha256', key).update(subject).digest('base64url')}`;
  const query = async <Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]) => {
    const settings = oauthSettings(null, noRequest);
    const { rows } = await queryOnce<Row>(pool, settings, { ...statement, values }).catch((cause: unknown) => {
      throw temporarilyUnavailable('the database did not count the request', cause);
    });
    return rows[0];
  };
  const windowMs = windowSeconds * 1000;

  return {
    /** Counts one more of this subject; returns whether it exceeds the limit. */
    async count(subject: string): Promise<Count> {
      const id = keyOf(subject);
      const refusedUntil = refused?.get(id);
      if (refusedUntil !== undefined) return { tooMany: true, ...retryAfter(refusedUntil - performance.now()) };
      const window = await query<Window>(countOne, [id, windowMs]);
      if (!window) throw new Error('An upsert returns a row');
      const tooMany = window.points > limit;
      if (tooMany) refused?.set(id, performance.now() + window.restMs);
      return { tooMany, ...retryAfter(window.restMs) };
    },
    /** Counts nothing; returns whether one more would exceed the limit. */
    async read(subject: string): Promise<Count> {
      const window = await query<Window>(readWindow, [keyOf(subject), windowMs]);
      if (!window) return { tooMany: false, retryAfterSeconds: 0 };
      return { tooMany: window.points >= limit, ...retryAfter(window.restMs) };
    },
    /** Starts a window in which the limit is reached; it replaces a running one. */
    async set(subject: string): Promise<void> {
      await query(setWindow, [keyOf(subject), windowMs, limit]);
    },
    /** Takes one count back. */
    async takeBack(subject: string): Promise<void> {
      await query(takeOneBack, [keyOf(subject), windowMs]);
    },
  };
}

type Window = { readonly points: number; readonly restMs: number };

type Statement = { readonly name: string; readonly text: string };

const nowMs = '(extract(epoch from statement_timestamp()) * 1000)::bigint';
/** Whether the window of row `t` is running; $2 is the length of a window. */
const isRunning = `(t.expire > ${nowMs} and t.expire <= ${nowMs} + $2::bigint)`;
const returning = `t.points, (t.expire - ${nowMs})::float8 as "restMs"`;

const countOne: Statement = {
  name: 'throttle_count',
  text: `
    insert into oauth.throttles as t (key, points, expire) values ($1, 1, ${nowMs} + $2::bigint)
    on conflict (key) do update set
      points = case when ${isRunning} then t.points + 1 else 1 end,
      expire = case when ${isRunning} then t.expire else excluded.expire end
    returning ${returning}`,
};

const readWindow: Statement = {
  name: 'throttle_read',
  text: `select ${returning} from oauth.throttles t where t.key = $1 and ${isRunning}`,
};

const setWindow: Statement = {
  name: 'throttle_set',
  text: `
    insert into oauth.throttles as t (key, points, expire) values ($1, $3::int, ${nowMs} + $2::bigint)
    on conflict (key) do update set points = excluded.points, expire = excluded.expire`,
};

const takeOneBack: Statement = {
  name: 'throttle_take_back',
  text: `update oauth.throttles t set points = t.points - 1 where t.key = $1 and t.points > 0 and ${isRunning}`,
};

const retryAfter = (restMs: number) => ({ retryAfterSeconds: Math.max(1, Math.ceil(restMs / 1000)) });
