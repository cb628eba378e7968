import { currentSession, endSession, putSession, readSessions } from './session.js';
import { firstScope, settings } from './settings.js';

/** @import { Session } from './session.js' */

/** A refusal of the token endpoint, in its own words. */
class TokenRefused extends Error {}

/**
 * The secrets that clients signed in with, by session.
 * They stay in this page's memory, so a reload forgets them.
 *
 * @type {Map<string, string>}
 */
const clientSecrets = new Map();

/**
 * By session.
 *
 * @type {Map<string, Promise<void>>}
 */
const refreshing = new Map();

/**
 * RFC 6749 section 4.4.
 *
 * @param {string} clientId
 * @param {string} clientSecret
 */
export async function signInAsApplication(clientId, clientSecret) {
  const session = await identify(clientId, await request(clientId, clientSecret, { grant_type: 'client_credentials' }));
  clientSecrets.set(session.id, clientSecret);
  putSession(session);
}

/**
 * RFC 6749 section 4.1.3, with the verifier of RFC 7636 section 4.5.
 *
 * @param {{ clientId: string, code: string, redirectUri: string, codeVerifier: string }} answer
 */
export async function signInWithCode({ clientId, code, redirectUri, codeVerifier }) {
  const token = await request(clientId, undefined, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: codeVerifier,
  });
  putSession(await identify(clientId, token));
}

/**
 * An application's refresh token needs its secret, which this page may have forgotten.
 *
 * @param {Session} session
 */
export const canRefresh = ({ id, kind }) => kind === 'user' || clientSecrets.has(id);

/** RFC 6749 section 6. @param {Session} session */
export async function refresh(session) {
  const { id } = session;
  const renewal = refreshing.get(id) ?? renew(session).finally(() => refreshing.delete(id));
  refreshing.set(id, renewal);
  await renewal;
}

/** @param {Session} session */
async function renew(session) {
  const token = await request(session.clientId, clientSecrets.get(session.id), {
    grant_type: 'refresh_token',
    refresh_token: session.refreshToken,
  });
  putSession({ ...session, ...token }, readSessions().chosen);
}

/**
 * The token for a request, renewed when it is about to end; null when there is none.
 * One that cannot be renewed is as good as none: the answer will say so.
 *
 * @returns {Promise<string | null>}
 */
export async function tokenForRequest() {
  const session = currentSession();
  if (!session || session.expiresAt - Date.now() > minimumLifetimeMs || !canRefresh(session))
    return session?.accessToken ?? null;
  try {
    await refresh(session);
  } catch (error) {
    if (error instanceof TokenRefused) return null;
    throw error;
  }
  return readSessions().sessions[session.id]?.accessToken ?? null;
}

/**
 * Ends a user's token on the server too.
 * An application's is only forgotten: revoking it would end the tokens with which the same application works elsewhere.
 */
export async function signOut() {
  const session = currentSession();
  if (!session) return;
  clientSecrets.delete(session.id);
  endSession();
  if (session.kind !== 'user') return;
  const response = await fetch(`${settings.oauthPath}/token`, {
    method: 'DELETE',
    credentials: 'omit',
    headers: { Authorization: `Bearer ${session.accessToken}` },
  });
  // An unread body keeps the connection.
  await response.text();
}

/**
 * @param {string} clientId
 * @param {string | undefined} clientSecret none for a public client
 * @param {Record<string, string>} parameters
 */
async function request(clientId, clientSecret, parameters) {
  const client = { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
  const response = await fetch(`${settings.oauthPath}/token`, {
    method: 'POST',
    credentials: 'omit',
    body: new URLSearchParams({ ...parameters, ...client }),
  });
  const body = await response.json().catch(() => ({}));
  if (!response.ok) {
    throw new TokenRefused(body.error_description ?? `The token endpoint answered with status ${response.status}.`);
  }
  return {
    scope: String(body.scope),
    accessToken: String(body.access_token),
    refreshToken: String(body.refresh_token),
    expiresAt: Date.now() + body.expires_in * 1000,
  };
}

/**
 * Asks the API whose token this is; a service that answers stored operations only does not say.
 *
 * @param {string} clientId
 * @param {Pick<Session, 'scope' | 'accessToken' | 'refreshToken' | 'expiresAt'>} token
 * @returns {Promise<Session>}
 */
async function identify(clientId, token) {
  const kind = firstScope(token.scope)?.kind ?? 'basic';
  const response = await fetch(settings.endpoint, {
    method: 'POST',
    credentials: 'omit',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token.accessToken}` },
    body: JSON.stringify({ query: whose[kind] }),
  });
  const { data } = await response.json().catch(() => ({}));
  const { id = token.accessToken, fullName } = data?.viewer ?? {};
  const name = fullName ?? data?.app?.name ?? clientId;
  return { ...token, kind, clientId, id: kind === 'user' ? `${clientId} ${id}` : clientId, name };
}

const whose = { user: '{ viewer { id fullName } }', app: '{ app { name } }', basic: '{ __typename }' };

const minimumLifetimeMs = 60_000;
