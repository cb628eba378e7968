import type { Pool } from 'pg';
import type { Precondition } from '../database/driver/statement.ts';
import type { RequestId } from '../observability/requestFields.ts';
import { type TokenVerifier, verifiedToken } from '../token/accessTokens.ts';
import type { Claims } from '../token/claims.ts';
import { hashToken, isToken } from '../token/format.ts';
import { oauthSettings } from '../token/settings.ts';
import { queryOnce } from '../token/transaction.ts';
import { claimColumns, claimSource } from '../token/verify.ts';

// Read-your-writes on a replica, by a causal token: the LSN of a grant's last write, which the replica must have replayed.

/** Verifies tokens at the primary, so that revocations take effect at once; reads the grant's LSN, too. */
export function createReplicaTokenVerifier(pool: Pool, primary: Pool): TokenVerifier {
  return async (token, requestId) => {
    if (!isToken('access', token)) return null;
    const hash = hashToken(token);
    const { rows } = await queryOnce<Claims & { writtenLsn: string | null }>(primary, oauthSettings(null, requestId), {
      name: 'verify_writer',
      text: verifyText,
      values: [hash],
    });
    if (!rows[0]) return null;
    const { writtenLsn, ...claims } = rows[0];
    return { ...verifiedToken(pool, claims, hash, requestId), writtenLsn };
  };
}

const verifyText = `
  select ${claimColumns}, oauth.written_lsn(organization_id, grant_id)::text as "writtenLsn"
  from ${claimSource}`;

/**
 * Records the current LSN as that of the grant's last write. After it resolves, every server reads it.
 * Coalesces: for each grant one update runs, perhaps too early for a later write, and one more waits.
 */
export function createWriteRecorder(primary: Pool) {
  const current = new Map<string, Promise<void>>();
  const next = new Map<string, Promise<void>>();

  const begin = (claims: Claims, requestId: RequestId): Promise<void> => {
    const { grantId } = claims;
    next.delete(grantId);
    const recorded = recordNow(primary, claims, requestId).finally(() => {
      if (current.get(grantId) === recorded) current.delete(grantId);
    });
    current.set(grantId, recorded);
    return recorded;
  };

  return (claims: Claims, requestId: RequestId): Promise<void> => {
    const { grantId } = claims;
    const underWay = current.get(grantId);
    if (!underWay) return begin(claims, requestId);
    const following = next.get(grantId) ?? underWay.catch(() => undefined).then(() => begin(claims, requestId));
    next.set(grantId, following);
    return following;
  };
}

async function recordNow(primary: Pool, claims: Claims, requestId: RequestId): Promise<void> {
  const statement = { name: 'note_write', text: recordText, values: [claims.grantId] };
  await queryOnce(primary, oauthSettings(claims.organizationId, requestId), statement, asyncCommit);
}

const recordText = 'update oauth.grants set written_lsn = pg_current_wal_insert_lsn() where id = $1';

/**
 * Asynchronous commit: visible at once. A crash may lose it, but then replicas must reach a newer LSN.
 * Nothing is recorded for an organization that is not served here: another database has its grants then.
 */
const asyncCommit: Precondition = {
  name: 'async_commit',
  isPinned: true,
  text: "select set_config('synchronous_commit', 'off', true), app_hidden.require_service(app_hidden.current_organization_id())",
  values: [],
};
