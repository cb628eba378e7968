import { firstScope } from './scopes.js';
import { currentSession, endSession, putSession, readSessions } from './session.js';

/** @import { Session } from './session.js' */

/** A refusal of the token endpoint, in its own words. */
class TokenRefused extends Error {}

/** Gets tokens from the OAuth server and keeps them fresh. */
export class Tokens {
  #oauthPath;
  #endpoint;
  /**
   * The secrets that clients signed in with, by session.
   * They stay in this page's memory, so a reload forgets them.
   *
   * @type {Map<string, string>}
   */
  #clientSecrets = new Map();
  /**
   * By session.
   *
   * @type {Map<string, Promise<void>>}
   */
  #refreshing = new Map();

  /** @param {{ oauthPath: string, endpoint: string }} settings */
  constructor({ oauthPath, endpoint }) {
    this.#oauthPath = oauthPath;
    this.#endpoint = endpoint;
  }

  /**
   * RFC 6749 section 4.4.
   *
   * @param {string} clientId
   * @param {string} clientSecret
   */
  async signInAsApplication(clientId, clientSecret) {
    const token = await this.#request(clientId, clientSecret, { grant_type: 'client_credentials' });
    const session = await this.#identify(clientId, token);
    this.#clientSecrets.set(session.id, clientSecret);
    putSession(session);
  }

  /**
   * RFC 6749 section 4.1.3, with the verifier of RFC 7636 section 4.5.
   *
   * @param {{ clientId: string, code: string, redirectUri: string, codeVerifier: string }} answer
   */
  async signInWithCode({ clientId, code, redirectUri, codeVerifier }) {
    const token = await this.#request(clientId, undefined, {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: codeVerifier,
    });
    putSession(await this.#identify(clientId, token));
  }

  /**
   * An application's refresh token needs its secret, which this page may have forgotten.
   *
   * @param {Session} session
   */
  canRefresh({ id, kind }) {
    return kind === 'user' || this.#clientSecrets.has(id);
  }

  /** RFC 6749 section 6. @param {Session} session */
  async refresh(session) {
    const { id } = session;
    const refreshing = this.#refreshing.get(id) ?? this.#refresh(session).finally(() => this.#refreshing.delete(id));
    this.#refreshing.set(id, refreshing);
    await refreshing;
  }

  /** @param {Session} session */
  async #refresh(session) {
    const token = await this.#request(session.clientId, this.#clientSecrets.get(session.id), {
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
  async forRequest() {
    const session = currentSession();
    if (!session || session.expiresAt - Date.now() > minimumLifetimeMs || !this.canRefresh(session))
      return session?.accessToken ?? null;
    try {
      await this.refresh(session);
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
  async signOut() {
    const session = currentSession();
    if (!session) return;
    this.#clientSecrets.delete(session.id);
    endSession();
    if (session.kind !== 'user') return;
    const response = await fetch(`${this.#oauthPath}/token`, {
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
  async #request(clientId, clientSecret, parameters) {
    const client = { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
    const response = await fetch(`${this.#oauthPath}/token`, {
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
  async #identify(clientId, token) {
    const kind = firstScope(token.scope)?.kind ?? 'basic';
    const response = await fetch(this.#endpoint, {
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
}

const whose = { user: '{ viewer { id fullName } }', app: '{ app { name } }', basic: '{ __typename }' };

const minimumLifetimeMs = 60_000;
