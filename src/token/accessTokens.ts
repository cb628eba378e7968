import { LRUCache } from 'lru-cache';
import { DatabaseError, type Pool } from 'pg';
import type { RequestId } from '../http/requestFields.ts';
import type { Claims } from './claims.ts';
import { hashToken, isToken } from './format.ts';
import type { Preliminary } from './implicitTransaction.ts';
import { graphSettings } from './settings.ts';
import { queryOnce } from './transaction.ts';
import { verifyTokenHash } from './verify.ts';

/** What a request's token says, and whether it says so rightly. */
export type AccessToken = {
  readonly claims: Claims;
  /** The LSN that a replica must have replayed to show the holder what they wrote; null when it is not known, unset when none asks. */
  readonly writtenLsn?: string | null;
  /**
   * Runs what relies on the claims. While they are only remembered it gets a proof: a statement to run under them, in the
   * transaction of what it does and before it, which fails unless the token is live and the claims in force are its own.
   *
   * @throws {AccessTokenEnded} when the proof failed
   */
  relyOn<T>(work: (proof: Preliminary | null) => Promise<T>): Promise<T>;
  /**
   * Asks the database if nothing that relied on the claims has done so.
   *
   * @throws {AccessTokenEnded}
   */
  requireLive(): Promise<void>;
};

/** The token is revoked, expired, or its application or person disabled; nothing that relied on it was done. */
export class AccessTokenEnded extends Error {
  override name = 'AccessTokenEnded';
}

/** Looks at a token that a request brings; null when it is unknown, malformed or has ended. */
export type PresentToken = (token: string, requestId: RequestId) => Promise<AccessToken | null>;

/** So many claims are remembered, of about 500 bytes each. */
const remembered = 10_000;

/**
 * Remembers the claims of tokens, so that looking one up and relying on it are one round trip. What is remembered proves nothing:
 * the database compares it with the token in the transaction of every statement, so that an end takes effect with the next request.
 */
export function createPresentToken({ pool, oauthPool }: { pool: Pool; oauthPool: Pool }): PresentToken {
  const claimsByHash = new LRUCache<string, Claims>({ max: remembered });
  return async (token, requestId) => {
    if (!isToken('access', token)) return null;
    const hash = hashToken(token);
    const key = hash.toString('latin1');
    const known = claimsByHash.get(key);
    if (known) return rememberedToken(pool, known, proofOf(hash), requestId, () => claimsByHash.delete(key));
    const claims = await verifyTokenHash(oauthPool, hash, requestId);
    if (claims) claimsByHash.set(key, claims);
    return claims && liveToken(claims);
  };
}

/** A token that was looked up for this request. */
export function liveToken(claims: Claims): AccessToken {
  return { claims, relyOn: (work) => work(null), requireLive: async () => undefined };
}

const proofOf = (hash: Buffer): Preliminary => ({
  name: 'require_access_token',
  isKept: true,
  text: 'select app_hidden.require_access_token($1)',
  values: [hash],
});

/** A token of these claims if the proof holds; hears when it does not. */
export function rememberedToken(
  pool: Pool,
  claims: Claims,
  proof: Preliminary,
  requestId: RequestId,
  onEnded: () => void = () => undefined,
): AccessToken {
  let state: 'remembered' | 'live' | 'ended' = 'remembered';

  const relyOn: AccessToken['relyOn'] = async (work) => {
    if (state === 'ended') throw new AccessTokenEnded();
    if (state === 'live') return work(null);
    try {
      const result = await work(proof);
      state = 'live';
      return result;
    } catch (error) {
      const hasEnded = error instanceof AccessTokenEnded || (error instanceof DatabaseError && error.code === 'TOKEN');
      if (!hasEnded) throw error;
      state = 'ended';
      onEnded();
      throw new AccessTokenEnded();
    }
  };
  const ask = () => queryOnce(pool, graphSettings(claims, requestId, 0), proof);
  return {
    claims,
    relyOn,
    async requireLive() {
      await relyOn((proof) => (proof ? ask() : Promise.resolve(null)));
    },
  };
}
