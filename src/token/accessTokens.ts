import { LRUCache } from 'lru-cache';
import { DatabaseError, type Pool } from 'pg';
import type { Precondition } from '../database/driver/statement.ts';
import type { RequestId } from '../observability/requestFields.ts';
import type { Claims } from './claims.ts';
import { hashToken, isToken } from './format.ts';
import { graphSettings } from './settings.ts';
import { queryOnce } from './transaction.ts';
import { verifyTokenHash } from './verify.ts';

/** A request's token: its claims, and the check that they are in force. */
export type AccessToken = {
  readonly claims: Claims;
  /** The LSN of read-your-writes, for a replica; null when it is not known, unset without a replica. */
  readonly writtenLsn?: string | null;
  /**
   * Runs `work`, which relies on the claims.
   * The first of a request gets a check: a statement that runs under the claims, first in the transaction of the work. It raises
   * an error unless the token is live and has these claims, and its organization is served here.
   *
   * @param isRequired whether `work` gets the check though it is not the first, as each transaction that writes needs it: a
   * move of the organization waits for those transactions alone that were checked
   * @throws {InvalidTokenError} when the check failed
   */
  withTokenCheck<T>(work: (check: Precondition | null) => Promise<T>, isRequired?: boolean): Promise<T>;
  /**
   * Runs the check alone, unless one has succeeded already.
   *
   * @throws {InvalidTokenError}
   */
  requireLive(): Promise<void>;
};

/**
 * `invalid_token` (RFC 6750): revoked, expired, or its owner disabled.
 * The work that relied on it did not run.
 */
export class InvalidTokenError extends Error {
  override name = 'InvalidTokenError';
  /** Whether earlier work of the same request has run, when the token was live. */
  readonly wasLive: boolean;

  constructor(wasLive = false) {
    super();
    this.wasLive = wasLive;
  }
}

/** Verifies the token of a request; null when it is unknown, malformed, expired or revoked. */
export type TokenVerifier = (token: string, requestId: RequestId) => Promise<AccessToken | null>;

/** Claims take about 500 bytes each. */
const maxCachedClaims = 10_000;

/**
 * Caches the claims of tokens; the check itself is in the transaction of each statement.
 * So a token is verified in the same round trip as the statement, and a revocation takes effect with the next request.
 */
export function createTokenVerifier({ pool, oauthPool }: { pool: Pool; oauthPool: Pool }): TokenVerifier {
  const claimsByHash = new LRUCache<string, Claims>({ max: maxCachedClaims });
  return async (token, requestId) => {
    if (!isToken('access', token)) return null;
    const hash = hashToken(token);
    const key = hash.toString('latin1');
    const known = claimsByHash.get(key);
    const claims = known ?? (await verifyTokenHash(oauthPool, hash, requestId));
    if (!claims) return null;
    if (!known) claimsByHash.set(key, claims);
    // Checked again even if it was just verified: a cut-over of its organization may come before the first statement.
    return cachedToken(pool, claims, tokenCheckOf(hash), requestId, { onInvalid: () => void claimsByHash.delete(key) });
  };
}

/** A token that was verified at the primary in this request, for reads of a replica. */
export function verifiedToken(pool: Pool, claims: Claims, hash: Buffer, requestId: RequestId): AccessToken {
  return cachedToken(pool, claims, tokenCheckOf(hash), requestId, { state: 'live' });
}

/** Claims without a token, or those of one that another thread checks. */
export function liveToken(claims: Claims): AccessToken {
  return { claims, withTokenCheck: (work) => work(null), requireLive: async () => undefined };
}

const tokenCheckOf = (hash: Buffer): Precondition => ({
  name: 'require_access_token',
  isPinned: true,
  text: 'select app_hidden.require_access_token($1)',
  values: [hash],
});

/** A token with cached claims. */
export function cachedToken(
  pool: Pool,
  claims: Claims,
  check: Precondition,
  requestId: RequestId,
  { state = 'unchecked', onInvalid = () => undefined }: CachedTokenOptions = {},
): AccessToken {
  // A token that was verified for this request has done no work yet.
  let wasLive = false;
  const withTokenCheck: AccessToken['withTokenCheck'] = async (work, isRequired = false) => {
    if (state === 'invalid') throw new InvalidTokenError(wasLive);
    if (state === 'live' && !isRequired) return work(null);
    try {
      const result = await work(check);
      state = 'live';
      wasLive = true;
      return result;
    } catch (error) {
      const failed = error instanceof InvalidTokenError || (error instanceof DatabaseError && error.code === 'TOKEN');
      if (!failed) throw error;
      state = 'invalid';
      onInvalid();
      throw new InvalidTokenError(wasLive);
    }
  };
  const checkAlone = () => queryOnce(pool, graphSettings(claims, requestId, 0), check);
  return {
    claims,
    withTokenCheck,
    async requireLive() {
      await withTokenCheck((due) => (due ? checkAlone() : Promise.resolve(null)));
    },
  };
}

type CachedTokenOptions = {
  /** What is known of the token at first. */
  state?: 'unchecked' | 'live' | 'invalid';
  /** Called when the check fails. */
  readonly onInvalid?: () => void;
};
