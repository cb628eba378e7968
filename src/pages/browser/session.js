/**
 * @typedef {'app' | 'user' | 'basic'} Kind
 * @typedef {object} Session a token and what is known about it
 * @property {Kind} kind
 * @property {string} scope
 * @property {string} clientId
 * @property {string} accessToken
 * @property {string} refreshToken
 * @property {number} expiresAt in milliseconds since 1970
 */

/** Tells that a token came, changed or went; `detail` is the new session, or null. */
export const sessionChanges = new EventTarget();

/**
 * The current session, in this tab's `sessionStorage`: a reload keeps it, closing the tab ends it.
 *
 * @returns {Session | null}
 */
export function currentSession() {
  const text = sessionStorage.getItem(key);
  return text === null ? null : JSON.parse(text);
}

/** @param {Session | null} session */
export function setSession(session) {
  if (session) sessionStorage.setItem(key, JSON.stringify(session));
  else sessionStorage.removeItem(key);
  sessionChanges.dispatchEvent(new CustomEvent('change', { detail: session }));
}

const key = 'graph-query-service:session';
