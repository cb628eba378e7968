import type { NextFunction, Request, Response } from 'express';
import type { Pool } from 'pg';
import { subkey } from '../../crypto/secrets.ts';
import { networkOf, siteOf } from '../../http/admission/networkOf.ts';
import { withoutPermit } from '../../scheduling/caller.ts';
import { createPermits } from '../../scheduling/permits.ts';
import { OAuthError, type OAuthErrorCode, temporarilyUnavailable, tooManyRequests } from '../errors.ts';
import { lifetimes } from '../lifetimes.ts';
import { type Count, type Counter, createCounter } from './counter.ts';

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
  const failuresHere = counter('failures_of_account_and_address', limits.failuresPerAccount, 15 * 60);
  const failuresAnywhere = counter('failures_of_account', 5 * limits.failuresPerAccount, 15 * 60);
  const signedIn = counter('sign_ins_of_account_and_address', 1, lifetimes.knownAddressSeconds);
  const tries = createPermits({
    maxHeld: Number.POSITIVE_INFINITY,
    maxHeldByTenant: 2,
    maxWaiting: 1000,
    maxWaitingOfTenant: 32,
    refusal: () => temporarilyUnavailable('too many tries at one account wait'),
  });
  /** @throws {OAuthError} 429 when one of the counts exceeds its limit, until none does */
  const refuse = (counts: Partial<Record<ThrottledBy, Count>>): void => {
    const exceeded = Object.entries(counts).filter(([, { tooMany }]) => tooMany) as [ThrottledBy, Count][];
    if (exceeded.length === 0) return;
    for (const [by] of exceeded) onThrottled(by);
    const retryAfterSeconds = Math.max(...exceeded.map(([, count]) => count.retryAfterSeconds));
    throw tooManyRequests(retryAfterSeconds, `too many by these counts: ${exceeded.map(([by]) => by).join(', ')}`);
  };
  /** The higher of the counts of an address's network and of its site. */
  const ofAddress = async (ip: string, ofNetwork: Counter['count'], ofSite: Counter['count']): Promise<Count> => {
    const site = siteOf(ip);
    const counts = await Promise.all([ofNetwork(networkOf(ip)), ...(site === null ? [] : [ofSite(site)])]);
    const exceeded = counts.filter(({ tooMany }) => tooMany);
    const retryAfterSeconds = Math.max(0, ...exceeded.map((count) => count.retryAfterSeconds));
    return { tooMany: exceeded.length > 0, retryAfterSeconds };
  };
  /**
   * Counts a failure to authenticate that is not thrown, so that `countFailures` does not see it.
   *
   * @throws {OAuthError} 429 to answer instead when there were too many
   */
  const countFailure = async ({ ip = '' }: Request) => {
    refuse({ failures: await ofAddress(ip, failures.count, failuresOfSite.count) });
  };

  const attemptCounted = async <T>(account: string, here: string, attempt: () => Promise<T | null>) => {
    const known = await signedIn.read(here);
    // A try is counted before it is made; otherwise many at once would each find a try left. Tries beyond the limit of one address do not
    // count against the account.
    refuse({ account: await failuresHere.count(here) });
    const takeBack = async () => {
      await Promise.all([failuresHere.takeBack(here), known.tooMany || failuresAnywhere.takeBack(account)]);
    };
    if (!known.tooMany) refuse({ account: await failuresAnywhere.count(account) });
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

    /**
     * Makes a try to sign in count against its account, unless it succeeds.
     * Few failures are allowed from one address, and several times that many from all addresses together. An address from which the account
     * has signed in before has only its own limit, so that strangers cannot lock an account. Tries at one account from one address run one
     * by one, so that unfinished ones do not use up the rest.
     *
     * @param account the user's id, or another key of the account when there is no such user
     * @param attempt resolves to null when it failed
     * @throws {OAuthError} 429 when too many have failed: before anything is verified, so that there is no timing side channel
     */
    async tryAccount<T>(account: string, address: string, attempt: () => Promise<T | null>): Promise<T | null> {
      const here = `${account} ${networkOf(address)}`;
      const begun = Promise.withResolvers<void>();
      const trying = tries.run([here], () => {
        begun.resolve();
        return attemptCounted(account, here, attempt);
      });
      await withoutPermit(() => Promise.race([begun.promise, trying]));
      return trying;
    },
  };
}

const failuresToAuthenticate: readonly OAuthErrorCode[] = ['invalid_client', 'invalid_grant', 'invalid_token'];
