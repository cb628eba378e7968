import { createHmac } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { createFairQueue } from 'fair-queue';
import { LRUCache } from 'lru-cache';
import type { Pool, QueryResultRow } from 'pg';
import { subkey } from '../crypto/secrets.ts';
import { networkOf, siteOf } from '../http/admission.ts';
import { noRequest } from '../observability/requestFields.ts';
import { refusedAs, withoutPermit } from '../scheduling/caller.ts';
import { systemClock } from '../scheduling/clock.ts';
import { oauthSettings } from '../token/settings.ts';
import { queryOnce } from '../token/transaction.ts';
import { OAuthError, type OAuthErrorCode, temporarilyUnavailable, tooManyRequests } from './errors.ts';
import { lifetimes } from './lifetimes.ts';

export type Throttle = ReturnType<typeof createThrottle>;

export type ThrottleLimits = {
  readonly requestsPerMinute: number;
  readonly failuresPerMinute: number;
  /** Failures from one address, in 15 minutes. */
  readonly failuresPerAccount: number;
};

/** The counter by which a request was throttled. */
export type ThrottledBy = 'address' | 'client' | 'failures' | 'account';

/**
 * Rate limits, shared by all servers of one database.
 *
 * @param secretKey SECRET_KEY, by which counted subjects are hashed
 * @param onThrottled called for each request that is refused
 */
export function createThrottle(
  pool: Pool,
  secretKey: Buffer,
  limits: ThrottleLimits,
  onThrottled: (by: ThrottledBy) => void = () => undefined,
) {
  const key = subkey(secretKey, 'throttling');
  const counter = (name: string, limit: number, windowSeconds: number, inMemory = false) =>
    createCounter({ pool, key, name, limit, windowSeconds, inMemory });
  const perMinute = (name: string, limit: number) => counter(name, limit, 60, true);
  const requests = perMinute('requests_of_address', limits.requestsPerMinute);
  const requestsOfSite = perMinute('requests_of_site', 5 * limits.requestsPerMinute);
  const requestsOfClient = perMinute('requests_of_client', 5 * limits.requestsPerMinute);
  const failures = perMinute('failures_of_address', limits.failuresPerMinute);
  const failuresOfSite = perMinute('failures_of_site', 5 * limits.failuresPerMinute);

  /** @throws {OAuthError} 429 when one of the counts exceeds its limit, until none does */
  const refuse = (counts: Partial<Record<ThrottledBy, Count>>): void => {
    const exceeded = Object.entries(counts).filter(([, { tooMany }]) => tooMany) as [ThrottledBy, Count][];
    if (exceeded.length === 0) return;
    for (const [by] of exceeded) onThrottled(by);
    const retryAfterSeconds = Math.max(...exceeded.map(([, count]) => count.retryAfterSeconds));
    throw tooManyRequests(retryAfterSeconds, `too many by these counts: ${exceeded.map(([by]) => by).join(', ')}`);
  };

  /**
   * Counts a failure to authenticate that is not thrown, so that `countFailures` does not see it.
   *
   * @throws {OAuthError} 429 to answer instead when there were too many
   */
  const countFailure = async ({ ip = '' }: Request) => {
    refuse({ failures: await ofAddress(ip, failures.count, failuresOfSite.count) });
  };

  const tryAccount = createTryAccount(counter, limits.failuresPerAccount, (account) => refuse({ account }));

  return {
    /** Counts a request of an address; refuses it after too many requests, or too many failed ones. */
    async limitAddress({ ip = '' }: Request, _response: Response, next: NextFunction): Promise<void> {
      const [address, failed] = await Promise.all([
        ofAddress(ip, requests.count, requestsOfSite.count),
        ofAddress(ip, failures.read, failuresOfSite.read),
      ]);
      refuse({ address, failures: failed });
      next();
    },

    /**
     * Counts a request of a client; refuses it after too many.
     * This runs after the client is authenticated, so that no client can use up another's limit.
     */
    async limitClient(request: Request, _response: Response, next: NextFunction): Promise<void> {
      const applicationId = request.oauthClient?.application.id ?? request.oauthClaims?.applicationId;
      if (applicationId !== undefined) refuse({ client: await requestsOfClient.count(applicationId) });
      next();
    },

    /**
     * Counts each refusal that is a failure to authenticate; answers 429 instead after too many.
     * Express recognizes an error handler by its four parameters.
     */
    async countFailures(error: unknown, request: Request, _response: Response, _next: NextFunction): Promise<void> {
      if (error instanceof OAuthError && failuresToAuthenticate.includes(error.code)) await countFailure(request);
      throw error;
    },

    countFailure,
    tryAccount,
  };
}

/** The higher of the counts of an address's network and of its site. */
async function ofAddress(ip: string, ofNetwork: Counter['count'], ofSite: Counter['count']): Promise<Count> {
  const site = siteOf(ip);
  const counts = await Promise.all([ofNetwork(networkOf(ip)), ...(site === null ? [] : [ofSite(site)])]);
  const exceeded = counts.filter(({ tooMany }) => tooMany);
  const retryAfterSeconds = Math.max(0, ...exceeded.map((count) => count.retryAfterSeconds));
  return { tooMany: exceeded.length > 0, retryAfterSeconds };
}

const failuresToAuthenticate: readonly OAuthErrorCode[] = ['invalid_client', 'invalid_grant', 'invalid_token'];

/**
 * Makes a try to sign in count against its account, unless it succeeds.
 * Few failures are allowed from one address, and several times that many from all addresses together. An address from which the account
 * has signed in before has only its own limit, so that strangers cannot lock an account. Of the tries at one account from one address two
 * run at a time, so that unfinished ones do not use up the rest.
 *
 * The `account` is the user's id, or another key when there is no such user. The `attempt` resolves to null when it failed. When too many
 * have failed, `refuse` throws before anything is verified, so that there is no timing side channel.
 *
 * @param maxFailures from one address, in 15 minutes
 * @param refuse throws when the count exceeds its limit
 */
function createTryAccount(
  counter: (name: string, limit: number, windowSeconds: number) => Counter,
  maxFailures: number,
  refuse: (count: Count) => void,
) {
  const failuresHere = counter('failures_of_account_and_address', maxFailures, 15 * 60);
  const failuresAnywhere = counter('failures_of_account', 5 * maxFailures, 15 * 60);
  const signedIn = counter('sign_ins_of_account_and_address', 1, lifetimes.knownAddressSeconds);
  const tries = createFairQueue(
    { slots: Number.POSITIVE_INFINITY, slotsPerTenant: 2, maxWaiting: 1000, maxWaitingPerTenant: 32, maxIdleFlows: 0 },
    systemClock,
  );

  const attemptCounted = async <T>(account: string, here: string, attempt: () => Promise<T | null>) => {
    const known = await signedIn.read(here);
    // A try is counted before it is made; otherwise many at once would each find a try left. Tries beyond the limit of one address do not
    // count against the account.
    refuse(await failuresHere.count(here));
    const takeBack = async () => {
      await Promise.all([failuresHere.takeBack(here), known.tooMany || failuresAnywhere.takeBack(account)]);
    };
    if (!known.tooMany) refuse(await failuresAnywhere.count(account));
    try {
      const result = await attempt();
      if (result === null) return null;
      await takeBack();
      if (known.retryAfterSeconds < lifetimes.knownAddressSeconds / 2) await signedIn.set(here);
      return result;
    } catch (error) {
      // No password was tried.
      await takeBack();
      throw error;
    }
  };

  return async <T>(account: string, address: string, attempt: () => Promise<T | null>): Promise<T | null> => {
    const here = `${account} ${networkOf(address)}`;
    const begun = Promise.withResolvers<void>();
    // They compete for nothing with those at other accounts, so that the cost does not matter.
    const trying = tries
      .run({ path: [here], costMs: 1 }, () => {
        begun.resolve();
        return attemptCounted(account, here, attempt);
      })
      .catch(refusedAs(() => temporarilyUnavailable('too many tries at one account wait')));
    await withoutPermit(() => Promise.race([begun.promise, trying]));
    return trying;
  };
}

interface Counter {
  /** Counts one more of this subject; returns whether it exceeds the limit. */
  count(subject: string): Promise<Count>;
  /** Counts nothing; returns whether one more would exceed the limit. */
  read(subject: string): Promise<Count>;
  /** Starts a window in which the limit is reached; it replaces a running one. */
  set(subject: string): Promise<void>;
  /** Takes one count back. */
  takeBack(subject: string): Promise<void>;
}

/** Whether the count exceeds its limit, and the whole seconds until the window ends. */
type Count = { readonly tooMany: boolean; readonly retryAfterSeconds: number };

type CounterOptions = {
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
function createCounter({ pool, key, name, limit, windowSeconds, inMemory }: CounterOptions): Counter {
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
    async count(subject) {
      const id = keyOf(subject);
      const refusedUntil = refused?.get(id);
      if (refusedUntil !== undefined) return { tooMany: true, ...retryAfter(refusedUntil - performance.now()) };
      const window = await query<Window>(countOne, [id, windowMs]);
      if (!window) throw new Error('An upsert returns a row');
      const tooMany = window.points > limit;
      if (tooMany) refused?.set(id, performance.now() + window.restMs);
      return { tooMany, ...retryAfter(window.restMs) };
    },
    async read(subject) {
      const window = await query<Window>(readWindow, [keyOf(subject), windowMs]);
      if (!window) return { tooMany: false, retryAfterSeconds: 0 };
      return { tooMany: window.points >= limit, ...retryAfter(window.restMs) };
    },
    async set(subject) {
      await query(setWindow, [keyOf(subject), windowMs, limit]);
    },
    async takeBack(subject) {
      await query(takeOneBack, [keyOf(subject), windowMs]);
    },
  };
}

type Window = { readonly points: number; readonly restMs: number };

type Statement = { readonly name: string; readonly text: string };

// A statement may have waited for its row since it began, while another one began a window: it must see that window as running.
const nowMs = '(extract(epoch from clock_timestamp()) * 1000)::bigint';
/** Whether the window of row `t` is running; $2 is the length of a window. */
const isRunning = `(t.expire > ${nowMs} and t.expire <= ${nowMs} + $2::bigint)`;
const returning = `t.points, (t.expire - ${nowMs})::float8 as "restMs"`;

const countOne: Statement = {
  name: 'throttle_count',
  text: `
    insert into oauth.throttles as t (key, points, expire) values ($1, 1, ${nowMs} + $2::bigint)
    on conflict (key) do update set (points, expire) = (
      select case when running then t.points + 1 else 1 end, case when running then t.expire else excluded.expire end
      from (select ${isRunning} as running) w)
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
