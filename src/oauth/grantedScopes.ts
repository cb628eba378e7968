import { isScope, type Scope, scopesInWords } from '../token/scopes.ts';
import type { Application } from './client.ts';
import { invalidScope, unauthorizedClient } from './errors.ts';

/**
 * The scopes of a token, sorted: those asked for, or all of `possible` that the application holds.
 * `possible` has the scopes that the grant type can give or, when a token is renewed, those that were granted (RFC 6749 section 6).
 *
 * @throws {OAuthError} invalid_scope when that is less than the client asked for; unauthorized_client when it asked for nothing and nothing
 * is left
 */
export function grantedScopes(
  possible: readonly Scope[],
  application: Application,
  scope: string | undefined,
): readonly Scope[] {
  const held = possible.filter((word) => application.scopes.includes(word));
  const asked = parseScope(scope);
  if (asked === null && held.length === 0) {
    throw unauthorizedClient('The application holds no scope that this grant can give.');
  }
  if (asked?.some((word) => !held.includes(word)))
    throw invalidScope('That is more than the application and the grant hold.');
  return asked ?? held;
}

/**
 * Parses a `scope` parameter (RFC 6749 3.3: words, one space between), sorted; null if omitted.
 *
 * @throws {OAuthError} invalid_scope for an empty, repeated or unknown word
 */
export function parseScope(scope: string | undefined): readonly Scope[] | null {
  if (scope === undefined) return null;
  const words = scope.split(' ');
  if (!words.every(isScope)) throw invalidScope(`scope takes ${scopesInWords}, separated by one space.`);
  if (new Set(words).size < words.length) throw invalidScope('scope repeats a word.');
  return words.sort();
}
