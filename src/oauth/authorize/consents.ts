import { createHash, randomBytes } from 'node:crypto';
import type { PoolClient } from 'pg';
import { hashToken } from '../../token/format.ts';
import { lifetimes } from '../lifetimes.ts';
import type { Authorization } from './readAuthorization.ts';
import { storedId } from './sessionStore.ts';

/** A session, and the authorization request that its person consents to. */
export type Consent = { readonly sessionId: string; readonly authorization: Authorization };

/** Stores a one-time token of the consent screen, which the person's answer must carry. */
export async function createConsent(database: PoolClient, consent: Consent): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await database.query({
    name: 'ask_consent',
    text: `
      with expired as (
        delete from oauth.consents where sid = $2 and expires_at <= clock_timestamp()
      )
      insert into oauth.consents (organization_id, consent_hash, sid, request_hash, expires_at)
      values (app_hidden.current_organization_id(), $1, $2, $3, clock_timestamp() + make_interval(mins => ${lifetimes.consentMinutes}))`,
    values: [hashToken(token), storedId(consent.sessionId), requestHash(consent.authorization)],
  });
  return token;
}

/**
 * Consumes the one-time token, so that only one of several concurrent answers counts.
 * False if the token is another session's or another request's, has expired or was used; then nothing changes.
 */
export async function consumeToken(database: PoolClient, token: string, consent: Consent): Promise<boolean> {
  const { rowCount } = await database.query({
    name: 'take_consent',
    text: `
      delete from oauth.consents
      where consent_hash = $1 and sid = $2 and request_hash = $3 and expires_at > clock_timestamp()`,
    values: [hashToken(token), storedId(consent.sessionId), requestHash(consent.authorization)],
  });
  return rowCount === 1;
}

function requestHash({ application, redirectUri, scopes, state, codeChallenge }: Authorization): Buffer {
  const seen = [application.id, redirectUri, scopes, state ?? null, codeChallenge];
  return createHash('sha256').update(JSON.stringify(seen)).digest();
}
