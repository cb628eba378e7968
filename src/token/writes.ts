import type { Pool } from 'pg';
import type { RequestId } from '../http/requestFields.ts';
import { liveToken, type PresentToken } from './accessTokens.ts';
import type { Claims } from './claims.ts';
import { hashToken, isToken } from './format.ts';
import type { Preliminary } from './implicitTransaction.ts';
import { oauthSettings } from './settings.ts';
import { queryOnce } from './transaction.ts';
import { type AccessTokenRow, toClaims } from './verify.ts';

// Where queries may go to a replica, which is behind: whoever has written something requires it to have come so far.

/**
 * Looks each token up at the primary, so that an end takes effect at once, and with it how far the primary's log was when a token
 * of the same grant last changed something.
 */
export function createPresentWriter(primary: Pool): PresentToken {
  return async (token, requestId) => {
    if (!isToken('access', token)) return null;
    const { rows } = await queryOnce<AccessTokenRow & { written_lsn: string | null }>(
      primary,
      oauthSettings(null, requestId),
      { name: 'verify_writer', text: verifyText, values: [hashToken(token)] },
    );
    return rows[0] ? { ...liveToken(toClaims(rows[0])), writtenLsn: rows[0].written_lsn } : null;
  };
}

const verifyText = `
  select t.*, oauth.written_lsn(t.organization_id, t.grant_id)::text as written_lsn
  from oauth.verify_access_token($1) t`;

/** Notes that a token of this grant has changed something. When it resolves every server knows. */
export type NoteWrite = (claims: Claims, requestId: RequestId) => Promise<void>;

/** What a grant writes at once is noted together: the note that is under way may be too early, the next one is not. */
export function createNoteWrite(primary: Pool): NoteWrite {
  const current = new Map<string, Promise<void>>();
  const next = new Map<string, Promise<void>>();

  const begin = (claims: Claims, requestId: RequestId): Promise<void> => {
    const { grantId } = claims;
    next.delete(grantId);
    const noted = noteNow(primary, claims, requestId).finally(() => {
      if (current.get(grantId) === noted) current.delete(grantId);
    });
    current.set(grantId, noted);
    return noted;
  };

  return (claims, requestId) => {
    const { grantId } = claims;
    const underWay = current.get(grantId);
    if (!underWay) return begin(claims, requestId);
    const following = next.get(grantId) ?? underWay.catch(() => undefined).then(() => begin(claims, requestId));
    next.set(grantId, following);
    return following;
  };
}

async function noteNow(primary: Pool, claims: Claims, requestId: RequestId): Promise<void> {
  const statement = { name: 'note_write', text: noteText, values: [claims.grantId] };
  await queryOnce(primary, oauthSettings(claims.organizationId, requestId), statement, unhurried);
}

const noteText = 'update oauth.grants set written_lsn = pg_current_wal_insert_lsn() where id = $1';

/** It is seen at once, and who waits for the disk meanwhile is nobody. Lost it is only with a primary that is restarted, after which no replica is asked for less. */
const unhurried: Preliminary = {
  name: 'unhurried',
  isKept: true,
  text: "select set_config('synchronous_commit', 'off', true)",
  values: [],
};
