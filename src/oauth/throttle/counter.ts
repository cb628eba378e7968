import { createHmac } from 'node:crypto';
import type { Pool, QueryConfig } from 'pg';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
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
   * Whether a client over the limit is refused from memory until the window ends.
   * So a flood costs the database nothing. It must be off for counts that are taken back.
   */
  inMemory: boolean;
};

/**
 * Counts in windows of fixed length, in the database, so that all servers share the counts.
 * It fails closed: {@link temporarilyUnavailable} when the database does not answer.
 */
export function createCounter({ pool, key, name, limit, windowSeconds, inMemory }: CounterOptions) {
  const limiter = new RateLimiterPostgres({
    storeClient: { query: (query: QueryConfig) => queryOnce(pool, oauthSettings(null, noRequest), query) },
    storeType: 'client',
    schemaName: 'oauth',
    tableName: 'throttles',
    // By a migration; and oauth.purge_throttles deletes expired rows.
    tableCreated: true,
    clearExpiredByTimeout: false,
    keyPrefix: name,
    points: limit,
    duration: windowSeconds,
    inMemoryBlockOnConsumed: inMemory ? limit : 0,
  });
  const hash = (subject: string) => createHmac('sha256', key).update(subject).digest('base64url');

  return {
    /** Counts one more of this subject; returns whether it exceeds the limit. */
    async count(subject: string): Promise<Count> {
      try {
        return toCount(await limiter.consume(hash(subject)), false);
      } catch (reason) {
        if (reason instanceof RateLimiterRes) return toCount(reason, true);
        unavailable(reason);
      }
    },
    /** Counts nothing; returns whether one more would exceed the limit. */
    async read(subject: string): Promise<Count> {
      const result = await limiter.get(hash(subject)).catch(unavailable);
      return result ? toCount(result, result.consumedPoints >= limit) : { tooMany: false, retryAfterSeconds: 0 };
    },
    /** Starts a window in which the limit is reached; it replaces a running one. */
    async set(subject: string): Promise<void> {
      await limiter.set(hash(subject), limit, windowSeconds).catch(unavailable);
    },
    /** Takes one count back. */
    async takeBack(subject: string): Promise<void> {
      await limiter.reward(hash(subject)).catch(unavailable);
    },
  };
}

const toCount = ({ msBeforeNext }: RateLimiterRes, tooMany: boolean): Count => ({
  tooMany,
  retryAfterSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)),
});

function unavailable(cause: unknown): never {
  throw temporarilyUnavailable('the database did not count the request', cause);
}
