import type { NextFunction, Request, Response } from 'express';
import type { Pool } from 'pg';
import { subkey } from '../../crypto/secrets.ts';
import { networkOf, siteOf } from '../../http/admission.ts';
import { OAuthError, type OAuthErrorCode, tooManyRequests } from '../errors.ts';
import { type Count, type Counter, createCounter } from './counter.ts';
import { createTryAccount } from './tryAccount.ts';

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
