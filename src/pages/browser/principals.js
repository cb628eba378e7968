import { chooseSession, currentSession, readSessions } from './session.js';
import { settings } from './settings.js';
import { signInBy } from './tokens.js';

/** @import { Session } from './session.js' */

/**
 * @typedef {object} Principal a person or application of the demo
 * @property {string} label
 * @property {Record<string, string>} request the token request that signs them in
 */

/**
 * Those of the demo that have no token in this tab.
 *
 * @returns {Principal[]}
 */
export function otherPrincipals() {
  const labels = Object.values(readSessions().sessions).map(({ principal }) => principal);
  return (settings.demo ?? []).filter(({ label }) => !labels.includes(label));
}

/** Signs the demo in as its first principal, unless a token is active. @returns {Promise<void>} */
export async function signInFirst() {
  const [first] = settings.demo ?? [];
  if (first && !currentSession()) chooseSession((await signInBy(first.request, first.label)).id);
}

/**
 * The session with this id, or that of the principal with this label, who is signed in for it.
 *
 * @param {string} value of an option of {@link principalOptions}
 * @returns {Promise<Session | null>} null for requests without a token
 */
export async function sessionOf(value) {
  const { sessions } = readSessions();
  const principal = settings.demo?.find(({ label }) => value === prefix + label);
  return principal ? signInBy(principal.request, principal.label) : (sessions[value] ?? null);
}

/** Options for the principals that can be signed in at once; none without the demo. */
export function principalOptions() {
  const options = otherPrincipals().map(({ label }) => new Option(label, prefix + label));
  if (options.length === 0) return [];
  const group = document.createElement('optgroup');
  group.label = 'Sign in as';
  group.append(...options);
  return [group];
}

const prefix = 'principal:';
