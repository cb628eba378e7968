import { settings } from './settings.js';

/**
 * Goes to the sign-in page: the authorization code flow (RFC 6749 section 4.1) with PKCE (RFC 7636).
 *
 * @param {string} clientId
 */
export async function beginCodeFlow(clientId) {
  if (!crypto.subtle) {
    throw new Error('The browser allows this only over https, or on localhost.');
  }
  const codeVerifier = randomText();
  const state = randomText();
  const challenge = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(codeVerifier));
  sessionStorage.setItem(key, JSON.stringify({ clientId, codeVerifier, state }));
  const parameters = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri(),
    scope: 'me',
    state,
    code_challenge: toBase64Url(new Uint8Array(challenge)),
    code_challenge_method: 'S256',
  });
  location.assign(`${settings.oauthPath}/authorize?${parameters}`);
}

/**
 * The token request for what the sign-in page has sent this page back with (RFC 6749 section 4.1.3, with the verifier of RFC 7636
 * section 4.5), or null; cleans the address of it.
 *
 * @returns {Record<string, string> | null}
 * @throws when the person refused, or when the answer is not to the question that this tab asked
 */
export function endCodeFlow() {
  const answer = new URLSearchParams(location.search);
  if (!answer.has('state')) return null;
  history.replaceState(null, '', location.pathname);
  const asked = JSON.parse(sessionStorage.getItem(key) ?? '{}');
  sessionStorage.removeItem(key);

  // RFC 9207: another server's code must not be sent to this one.
  if (!asked.state || answer.get('state') !== asked.state || answer.get('iss') !== settings.issuer) {
    throw new Error('That answer does not belong to a sign-in that this tab began. Sign in again.');
  }
  const code = answer.get('code');
  if (!code) {
    const denied = answer.get('error') === 'access_denied';
    throw new Error(denied ? 'Access was denied on the sign-in page.' : 'The sign-in failed. Sign in again.');
  }
  return {
    grant_type: 'authorization_code',
    client_id: asked.clientId,
    code,
    redirect_uri: redirectUri(),
    code_verifier: asked.codeVerifier,
  };
}

const key = 'graph-query-service:code-flow';

const redirectUri = () => location.origin + location.pathname;

/** 256 bits, 43 characters. */
const randomText = () => toBase64Url(crypto.getRandomValues(new Uint8Array(32)));

/** @param {Uint8Array} bytes */
const toBase64Url = (bytes) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
