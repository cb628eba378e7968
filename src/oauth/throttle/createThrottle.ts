import type { ErrorRequestHandler, Request, RequestHandler } from 'express';
import type { Pool } from 'pg';
import { subkey } from '../../secrets.ts';
import { OAuthError, type OAuthErrorCode, tooManyRequests } from '../errors.ts';
import { type Count, createCounter } from './counter.ts';
import { networkOf } from './networkOf.ts';

/** Who tries too often waits (contract section 5, first row), whichever server of one database is asked. */
export type Throttle = {
  /** Counts a request of an address; refuses it when there were too many, or too many that failed to authenticate. */
  limitAddress: RequestHandler;
  /**
   * Counts a request of a client; refuses it when there were too many. Only once it is known who asks, so that nobody can
   * use up what another client may do.
   */
  limitClient: RequestHandler;
  /** Counts each refusal that is a failure to authenticate; answers 429 in its place when there were too many. */
  countFailures: ErrorRequestHandler;
  /**
   * Counts a request that failed to authenticate and is not answered by a refusal that `countFailures` sees.
   *
   * @throws {OAuthError} 429 to answer instead when there were too many
   */
  countFailure(request: Request): Promise<void>;
  /**
   * Makes a try to sign in count against its account, unless it succeeds. Few are left from one address. Several times
   * that many are left from all addresses together, which one stranger alone cannot use up.
   *
   * @param account the user's id, or whatever else tells accounts apart
   * @param attempt is told whether the account is locked: then it must do the same work, and fail. Null means it failed
   */
  tryAccount<T>(account: string, address: string, attempt: (locked: boolean) => Promise<T | null>): Promise<T | null>;
};

export type ThrottleLimits = {
  readonly requestsPerMinute: number;
  readonly failuresPerMinute: number;
  /** From one address, in 15 minutes. */
  readonly failuresPerAccount: number;
};

/** What was counted when somebody was held back. */
export type ThrottledBy = 'address' | 'client' | 'failures' | 'account';

/**
 * @param secretKey SECRET_KEY: what is counted is kept as keyed hashes
 * @param onThrottled hears of each request that is refused, and of each try that finds its account locked
 */
export function createThrottle(
  pool: Pool,
  secretKey: Buffer,
  limits: ThrottleLimits,
  onThrottled: (by: ThrottledBy) => void = () => undefined,
): Throttle {
  const key = subkey(secretKey, 'throttling');
  const perMinute = (name: string, limit: number) =>
    createCounter({ pool, key, name, limit, windowSeconds: 60, inMemory: true });
  const ofAccounts = (name: string, limit: number) =>
    createCounter({ pool, key, name, limit, windowSeconds: 15 * 60, inMemory: false });
  const requests = perMinute('requests_of_address', limits.requestsPerMinute);
  const requestsOfClient = perMinute('requests_of_client', 5 * limits.requestsPerMinute);
  const failures = perMinute('failures_of_address', limits.failuresPerMinute);
  const failuresHere = ofAccounts('failures_of_account_and_address', limits.failuresPerAccount);
  const failuresAnywhere = ofAccounts('failures_of_account', 5 * limits.failuresPerAccount);
  /** @throws {OAuthError} 429 when one of them is too many; to come again when none is */
  const refuse = (counts: Partial<Record<ThrottledBy, Count>>): void => {
    const exceeded = Object.entries(counts).filter(([, { tooMany }]) => tooMany) as [ThrottledBy, Count][];
    if (exceeded.length === 0) return;
    for (const [by] of exceeded) onThrottled(by);
    throw tooManyRequests(Math.max(...exceeded.map(([, { retryAfterSeconds }]) => retryAfterSeconds)));
  };
  const countFailure = async (request: Request) =>
    refuse({ failures: await failures.count(networkOf(request.ip ?? '')) });

  return {
    limitAddress: async (request, _response, next) => {
      const network = networkOf(request.ip ?? '');
      const [address, failed] = await Promise.all([requests.count(network), failures.read(network)]);
      refuse({ address, failures: failed });
      next();
    },

    limitClient: async (request, _response, next) => {
      const applicationId = request.oauthClient?.application.id ?? request.oauthClaims?.applicationId;
      if (applicationId !== undefined) refuse({ client: await requestsOfClient.count(applicationId) });
      next();
    },

    // Express knows an error handler by its four parameters.
    countFailures: async (error, request, _response, _next) => {
      if (error instanceof OAuthError && failuresToAuthenticate.includes(error.code)) await countFailure(request);
      throw error;
    },

    countFailure,

    tryAccount: async (account, address, attempt) => {
      const here = `${account} ${networkOf(address)}`;
      // Counted before it is tried, or many at once would each find a try left. What one address has used up does not go
      // on counting against the account.
      const locked = (await failuresHere.count(here)).tooMany || (await failuresAnywhere.count(account)).tooMany;
      if (locked) {
        onThrottled('account');
        await attempt(true);
        return null;
      }
      const takeBack = () => Promise.all([failuresHere.takeBack(here), failuresAnywhere.takeBack(account)]);
      try {
        const result = await attempt(false);
        if (result !== null) await takeBack();
        return result;
      } catch (error) {
        // Nothing was tried.
        await takeBack();
        throw error;
      }
    },
  };
}

const failuresToAuthenticate: readonly OAuthErrorCode[] = ['invalid_client', 'invalid_grant', 'invalid_token'];
