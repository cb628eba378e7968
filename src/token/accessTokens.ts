import { hash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { crc32 } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { DatabaseError, type Pool } from 'pg';
import type { Precondition } from '../database/driver/driver.ts';
import { isRetryable } from '../database/pool/unavailable.ts';
import type { RequestFields, RequestId } from '../observability/requestFields.ts';
import { traced } from '../observability/traced.ts';
import { identifyCaller } from '../scheduling/caller.ts';
import { type Claims, graphSettings, oauthSettings } from './settings.ts';
import { queryOnce } from './transaction.ts';

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

/**
 * Does the work of a request under its bearer token, or without one.
 * If the first check of a token fails, nothing was executed, and the token is no longer cached. It may have been reassigned, so the work
 * begins once more. A revoked token decides over any other outcome, unless the database is unavailable or the client has disconnected.
 *
 * @param wasUnavailable whether a result says that the database is unavailable
 */
export async function withBearerToken<T>(
  bearer: Bearer,
  verifyToken: TokenVerifier,
  { requestId, fields, signal }: Bearing,
  work: (token: AccessToken | null) => Promise<T>,
  wasUnavailable: (result: T) => boolean = () => false,
): Promise<T> {
  const attempt = async (): Promise<T> => {
    const token =
      bearer.kind === 'token' ? await traced('verify token', () => verifyToken(bearer.token, requestId)) : null;
    if (!token) return work(null);
    fields.clientId = token.claims.clientId;
    identifyCaller(token.claims.organizationId);
    let result: T;
    try {
      result = await work(token);
    } catch (error) {
      if (!isRetryable(error) && !signal.aborted) await token.requireLive();
      throw error;
    }
    if (!wasUnavailable(result) && !signal.aborted) await token.requireLive();
    return result;
  };
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof InvalidTokenError && !error.wasLive) return attempt();
    throw error;
  }
}

/** A request that may bear a token. */
type Bearing = {
  readonly requestId: RequestId;
  readonly fields: RequestFields;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
};

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

/**
 * Verifies an access token uncached: a revocation takes effect with the next request, everywhere.
 * Null when it is unknown, malformed, expired or revoked, or its application or user is disabled or gone.
 *
 * @throws when the database does not answer
 */
export async function verifyBearer(pool: Pool, token: string, requestId: RequestId): Promise<Claims | null> {
  return isToken('access', token) ? verifyTokenHash(pool, hashToken(token), requestId) : null;
}

/**
 * Verifies a token by its hash, the only form that the database stores.
 *
 * @throws a database error for which `hasMoved` holds when the token's organization is not served here
 */
async function verifyTokenHash(pool: Pool, hash: Buffer, requestId: RequestId): Promise<Claims | null> {
  const { rows } = await queryOnce<Claims>(pool, oauthSettings(null, requestId), {
    name: 'verify_access_token',
    text: `select ${claimColumns} from ${claimSource}`,
    values: [hash],
  });
  return rows[0] ?? null;
}

/** The claims of the token whose hash is the first parameter. Fails if its organization is not served here. */
export const claimSource = 'oauth.verify_access_token($1) as token, app_hidden.require_service(token.organization_id)';

/** The columns of `oauth.verify_access_token`, by the names of {@link Claims}. */
export const claimColumns = `
  organization_id as "organizationId", application_id as "applicationId", client_id as "clientId", user_id as "userId",
  grant_id as "grantId", scopes, created_at as "createdAt", expires_at as "expiresAt"`;

/** The purposes of tokens. By the prefix, a person or a secret scanner recognizes a leaked one. */
type TokenKind = keyof typeof prefixes;

const prefixes = { access: 'gqs_at_', refresh: 'gqs_rt_', code: 'gqs_ac_' } as const;

/** A new opaque token: prefix, 256 random bits in base64url, CRC-32; 56 characters of `b64token`. */
export function createToken(kind: TokenKind, bits = randomBytes(32)): string {
  const unchecked = prefixes[kind] + bits.toString('base64url');
  return unchecked + checksum(unchecked);
}

/** Whether the text could be a token of this kind; a mistyped token is refused without a query. */
export function isToken(kind: TokenKind, text: string): boolean {
  if (text.length !== tokenLength || !text.startsWith(prefixes[kind])) return false;
  return text.slice(-checksumLength) === checksum(text.slice(0, -checksumLength));
}

/** SHA-256, the only stored form of a token, code or client secret; unsalted, as these are random. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** 4 bytes and 32 bytes in base64url. */
const checksumLength = 6;
const tokenLength = prefixes.access.length + 43 + checksumLength;

function checksum(text: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(text));
  return bytes.toString('base64url');
}

/** The bearer token of a request's Authorization headers. */
export type Bearer =
  | { readonly kind: 'token'; readonly token: string }
  /** No Authorization header, or one of another scheme. */
  | { readonly kind: 'missing' }
  /** The scheme is Bearer but no token follows, or there is more than one header. */
  | { readonly kind: 'malformed' }
  /** `Bearer <ACCESS_TOKEN>`, as printed in the documentation. */
  | { readonly kind: 'placeholder' };

/**
 * Reads the bearer token of a request (RFC 6750 section 2.1).
 * There must be exactly one header `Authorization: Bearer <b64token>`, the scheme in any case. A token in a body or query is never read.
 */
export function readBearer(request: IncomingMessage): Bearer {
  const headers = request.headersDistinct.authorization ?? [];
  const [header] = headers;
  if (header === undefined) return { kind: 'missing' };
  if (headers.length > 1) return { kind: 'malformed' };
  if (!/^bearer(?: |$)/i.test(header)) return { kind: 'missing' };
  const token = /^bearer +([\w.~+/-]+=*)$/i.exec(header)?.[1];
  if (token !== undefined) return { kind: 'token', token };
  return { kind: /^bearer +<[^<>]*>$/i.test(header) ? 'placeholder' : 'malformed' };
}

/**
 * The value of `WWW-Authenticate` for a 401 (RFC 6750 section 3).
 * It has no error code when the request carried no bearer token at all, else `invalid_token`.
 */
export function bearerChallenge(kind: Bearer['kind']): string {
  const realm = 'Bearer realm="graph-query-service"';
  if (kind === 'missing') return realm;
  return `${realm}, error="invalid_token", error_description="${bearerProblems[kind]}"`;
}

/** The same problems in words for a client's developer. */
export const bearerProblems = {
  token: 'The access token is unknown, expired or revoked.',
  missing: 'This needs an access token: send the header Authorization: Bearer <access token>.',
  malformed: 'Send exactly one header Authorization: Bearer <access token>.',
  placeholder: 'Replace <ACCESS_TOKEN>, with its angle brackets, by an access token: POST /oauth/token issues them.',
};

/**
 * Fencing token of a move: fails, first in a transaction, unless this database serves the organization of the claims.
 * If it succeeds, a cut-over waits for the end of the transaction. Access tokens have the same in their own check.
 */
export const requireOwnService: Precondition = {
  name: 'require_own_service',
  isPinned: true,
  text: 'select app_hidden.require_service(app_hidden.current_organization_id())',
  values: [],
};
