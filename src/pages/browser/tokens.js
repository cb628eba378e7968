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
 * Signs in by a token request (RFC 6749 sections 4.1.3, 4.3 and 4.4), and keeps the session without choosing it.
 *
 * @param {Record<string, string>} parameters
 * @param {string} [principal] the label of a person or application of the demo
 */
export async function signInBy(parameters, principal) {
  const { client_id: clientId = '', client_secret: clientSecret } = parameters;
  const session = { ...(await identify(clientId, await request(parameters))), ...(principal && { principal }) };
  if (clientSecret !== undefined) clientSecrets.set(session.id, clientSecret);
  putSession(session, readSessions().chosen);
  return session;
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
  const clientSecret = clientSecrets.get(session.id);
  const token = await request({
    grant_type: 'refresh_token',
    refresh_token: session.refreshToken,
    client_id: session.clientId,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
  });
  putSession({ ...session, ...token }, readSessions().chosen);
}

/**
 * The token for a request, renewed when it is about to end; null when there is none.
 * One that cannot be renewed is as good as none: the answer will say so.
 *
 * @returns {Promise<string | null>}
 */
export async function tokenForRequest(session = currentSession()) {
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

/** @param {Record<string, string>} parameters */
async function request(parameters) {
  const response = await fetch(`${settings.oauthPath}/token`, {
    method: 'POST',
    credentials: 'omit',
    body: new URLSearchParams(parameters),
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
  const headers = { Authorization: `Bearer ${token.accessToken}` };
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers } };
  const [{ data }, { organization }] = await Promise.all([
    readJson(settings.endpoint, { ...init, body: JSON.stringify({ query: whose[kind] }) }),
    readJson(settings.whyPath && `${settings.whyPath}/organization`, { headers }),
  ]);
  const { id = token.accessToken, fullName, email } = data?.viewer ?? {};
  return {
    ...token,
    ...{ kind, clientId, id: `${clientId} ${kind === 'user' ? id : kind}` },
    name: fullName ?? data?.app?.name ?? clientId,
    ...(email && { email }),
    ...(organization && { organization }),
  };
}

/** @type {(path: string | null, init: RequestInit) => Promise<any>} an empty object where there is no answer */
async function readJson(path, init) {
  if (path === null) return {};
  const response = await fetch(path, { credentials: 'omit', ...init });
  return response.json().catch(() => ({}));
}

const whose = { user: '{ viewer { id fullName email } }', app: '{ app { name } }', basic: '{ __typename }' };

const minimumLifetimeMs = 60_000;
