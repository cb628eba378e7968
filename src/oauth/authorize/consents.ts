import { createHash, randomBytes } from 'node:crypto';
import type { PoolClient } from 'pg';
import { hashToken } from '../../token/format.ts';
import type { Authorization } from './readAuthorization.ts';
import { storedId } from './sessionStore.ts';

/** How long a person may think about it. */
const consentMinutes = 10;

/** A session, and the request that its person is asked about. */
export type Question = { readonly sessionId: string; readonly authorization: Authorization };

/** Remembers that the person was asked. What it returns must come back with the answer. */
export async function askConsent(database: PoolClient, question: Question): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await database.query({
    name: 'ask_consent',
    text: `
      with expired as (
        delete from oauth.consents where sid = $2 and expires_at <= clock_timestamp()
      )
      insert into oauth.consents (organization_id, consent_hash, sid, request_hash, expires_at)
      values (app_hidden.current_organization_id(), $1, $2, $3, clock_timestamp() + make_interval(mins => ${consentMinutes}))`,
    values: [hashToken(token), storedId(question.sessionId), requestHash(question.authorization)],
  });
  return token;
}

/**
 * Takes the question away, so that of all its answers one counts. False when this session was not asked, about another
 * request, too long ago, or has answered; then nothing changes.
 */
export async function takeConsent(database: PoolClient, token: string, question: Question): Promise<boolean> {
  const { rowCount } = await database.query({
    name: 'take_consent',
    text: `
      delete from oauth.consents
      where consent_hash = $1 and sid = $2 and request_hash = $3 and expires_at > clock_timestamp()`,
    values: [hashToken(token), storedId(question.sessionId), requestHash(question.authorization)],
  });
  return rowCount === 1;
}

function requestHash({ application, redirectUri, scopes, state, codeChallenge }: Authorization): Buffer {
  const seen = [application.id, redirectUri, scopes, state ?? null, codeChallenge];
  return createHash('sha256').update(JSON.stringify(seen)).digest();
}
