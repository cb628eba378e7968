import { currentSession, setSession } from './session.js';

/** @import { Session } from './session.js' */

/** A refusal of the token endpoint, in its own words. */
export class TokenRefused extends Error {}

/** Gets tokens from the OAuth server and keeps them fresh. */
export class Tokens {
  #oauthPath;
  /**
   * The secret that a client signed in with. It stays in this page's memory, so a reload forgets it.
   *
   * @type {string | null}
   */
  #clientSecret = null;

  /** @param {string} oauthPath */
  constructor(oauthPath) {
    this.#oauthPath = oauthPath;
  }

  /**
   * RFC 6749 section 4.4.
   *
   * @param {string} clientId
   * @param {string} clientSecret
   */
  async signInAsApplication(clientId, clientSecret) {
    await this.#request(clientId, clientSecret, { grant_type: 'client_credentials' });
  }

  /**
   * RFC 6749 section 4.1.3, with the verifier of RFC 7636 section 4.5.
   *
   * @param {{ clientId: string, code: string, redirectUri: string, codeVerifier: string }} answer
   */
  async signInWithCode({ clientId, code, redirectUri, codeVerifier }) {
    await this.#request(clientId, null, {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: codeVerifier,
    });
  }

  /** An application's refresh token needs its secret, which this page may have forgotten. */
  get canRefresh() {
    const session = currentSession();
    return session !== null && (session.kind === 'user' || this.#clientSecret !== null);
  }

  /** RFC 6749 section 6. */
  async refresh() {
    const session = currentSession();
    if (!session) return;
    this.#refreshing ??= this.#request(session.clientId, this.#clientSecret, {
      grant_type: 'refresh_token',
      refresh_token: session.refreshToken,
    }).finally(() => {
      this.#refreshing = null;
    });
    await this.#refreshing;
  }

  /** @type {Promise<void> | null} */
  #refreshing = null;

  /**
   * The token for a request, renewed when it is about to end; null when there is none.
   *
   * @returns {Promise<string | null>}
   */
  async forRequest() {
    const session = currentSession();
    if (session && session.expiresAt - Date.now() < minimumLifetimeMs && this.canRefresh) await this.refresh();
    return currentSession()?.accessToken ?? null;
  }

  /**
   * Ends a user's token on the server too.
   * An application's is only forgotten: revoking it would end the tokens with which the same application works elsewhere.
   */
  async signOut() {
    const session = currentSession();
    this.#clientSecret = null;
    setSession(null);
    if (session?.kind !== 'user') return;
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
   * @param {string | null} clientSecret null for a public client
   * @param {Record<string, string>} parameters
   */
  async #request(clientId, clientSecret, parameters) {
    const client = { client_id: clientId, ...(clientSecret !== null && { client_secret: clientSecret }) };
    const response = await fetch(`${this.#oauthPath}/token`, {
      method: 'POST',
      credentials: 'omit',
      body: new URLSearchParams({ ...parameters, ...client }),
    });
    const body = await response.json().catch(() => ({}));
    if (!response.ok) {
      throw new TokenRefused(body.error_description ?? `The token endpoint answered with status ${response.status}.`);
    }
    this.#clientSecret = clientSecret;
    setSession(toSession(clientId, body));
  }
}

const minimumLifetimeMs = 60_000;

/**
 * @param {string} clientId
 * @param {{ access_token: string, refresh_token: string, expires_in: number, scope: string }} reply
 * @returns {Session}
 */
function toSession(clientId, { access_token, refresh_token, expires_in, scope }) {
  const scopes = scope.split(' ');
  return {
    kind: scopes.includes('me') ? 'user' : scopes.includes('app') ? 'app' : 'basic',
    scope,
    clientId,
    accessToken: access_token,
    refreshToken: refresh_token,
    expiresAt: Date.now() + expires_in * 1000,
  };
}
