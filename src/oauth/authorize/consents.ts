import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { PoolClient } from 'pg';
import { createToken, hashToken } from '../../token/accessTokens.ts';
import { lifetimes } from '../lifetimes.ts';
import { type Authorization, storedId } from './sessions.ts';

/** A session, and the authorization request that its person consents to. */
export type Consent = { readonly sessionId: string; readonly authorization: Authorization };

/** Stores a one-time token of the consent screen, which the person's answer must carry. */
export async function createConsent(
  database: PoolClient,
  consent: Consent,
  token = randomBytes(32).toString('base64url'),
): Promise<string> {
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

/** How a person answers, with the one-time token of the form. */
export type PersonsAnswer = { readonly token: string; readonly isDenied: boolean; readonly userId: string };

/**
 * Takes the first answer to a consent, idempotently: an equal one, as of a double click, gets the same code or denial.
 * The code is a keyed hash (HMAC) of the question and its one-time token, so that no second one can be issued. Null if the token is not
 * valid, if another answer was first, or if the code was redeemed: to show that again would revoke what it bought.
 */
export async function answerOnce(
  database: PoolClient,
  key: Buffer,
  consent: Consent,
  { token, isDenied, userId }: PersonsAnswer,
): Promise<{ code: string } | 'denied' | null> {
  const question = [isDenied, token, consent.sessionId, requestHash(consent.authorization).toString('hex')];
  const secret = createHmac('sha256', key).update(JSON.stringify(question)).digest();
  const isFirst = await consumeToken(database, token, consent);
  if (isDenied) {
    // It stands in the question's place, under a token that no form has.
    const denial = secret.toString('base64url');
    if (isFirst) await createConsent(database, consent, denial);
    return isFirst || (await isStored(database, denial, consent)) ? 'denied' : null;
  }
  const code = createToken('code', secret);
  if (isFirst) await storeCode(database, code, userId, consent.authorization);
  return isFirst || (await isRedeemable(database, code)) ? { code } : null;
}

/**
 * Consumes the one-time token, so that only one of several concurrent answers counts.
 * False if the token is another session's or another request's, has expired or was used; then nothing changes.
 */
async function consumeToken(database: PoolClient, token: string, consent: Consent): Promise<boolean> {
  const { rowCount } = await database.query({
    name: 'take_consent',
    text: `
      delete from oauth.consents
      where consent_hash = $1 and sid = $2 and request_hash = $3 and expires_at > clock_timestamp()`,
    values: [hashToken(token), storedId(consent.sessionId), requestHash(consent.authorization)],
  });
  return rowCount === 1;
}

async function isStored(database: PoolClient, token: string, consent: Consent): Promise<boolean> {
  const { rowCount } = await database.query({
    name: 'find_consent',
    text: `
      select from oauth.consents
      where consent_hash = $1 and sid = $2 and request_hash = $3 and expires_at > clock_timestamp()`,
    values: [hashToken(token), storedId(consent.sessionId), requestHash(consent.authorization)],
  });
  return rowCount === 1;
}

/** Stores a code for the person's consent, bound to the client, its redirect and its PKCE challenge. */
async function storeCode(
  database: PoolClient,
  code: string,
  userId: string,
  { application, redirectUri, scopes, codeChallenge }: Authorization,
): Promise<void> {
  await database.query({
    name: 'issue_code',
    text: `
      insert into oauth.authorization_codes
        (organization_id, code_hash, application_id, user_id, scopes, redirect_uri, code_challenge, expires_at)
      values (app_hidden.current_organization_id(), $1, $2, $3, $4, $5, $6,
        clock_timestamp() + make_interval(secs => ${lifetimes.codeSeconds}))`,
    values: [hashToken(code), application.id, userId, scopes, redirectUri, codeChallenge],
  });
}

async function isRedeemable(database: PoolClient, code: string): Promise<boolean> {
  const { rowCount } = await database.query({
    name: 'find_code',
    text: `
      select from oauth.authorization_codes
      where code_hash = $1 and used_at is null and expires_at > clock_timestamp()`,
    values: [hashToken(code)],
  });
  return rowCount === 1;
}

function requestHash({ application, redirectUri, scopes, state, codeChallenge }: Authorization): Buffer {
  const seen = [application.id, redirectUri, scopes, state ?? null, codeChallenge];
  return createHash('sha256').update(JSON.stringify(seen)).digest();
}
