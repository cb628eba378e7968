import { invalidRequest, type OAuthError } from './errors.ts';

/** A form's names and values in the order sent. */
export type Form = readonly (readonly [name: string, value: string])[];

/** An alternate source of the parameters, and the one credential that the query may then have. */
export type ParameterFallback = (body: Form, query: Form) => { form: Form; credential: string } | null;

/** Parameters by name. One without a value counts as omitted (RFC 6749 section 3.2). */
export type Parameters = { readonly [name in string]?: string };

/**
 * Parses `application/x-www-form-urlencoded` as UTF-8 (RFC 6749 appendix B).
 * It is stricter than URLSearchParams: broken percent-encoding, broken UTF-8 and U+0000 are refused instead of replaced. A replaced
 * character could make two different credentials equal.
 *
 * @throws {OAuthError} invalid_request
 */
export function parseForm(encoded: string): Form {
  return encoded
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=');
      return equals < 0 ? [decode(pair), ''] : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
    });
}

/** One name, value or credential, decoded. @throws {OAuthError} invalid_request */
export function decode(encoded: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    throw invalidRequest('A parameter is not UTF-8 in application/x-www-form-urlencoded encoding.');
  }
  if (decoded.includes('\0')) throw invalidRequest('A parameter contains the character U+0000.');
  return decoded;
}

/** A rule that must hold, its source, and the answer when it does not hold. */
export type Check<T> = readonly [source: string, holds: (subject: T) => boolean, refusal: () => OAuthError];

/** Throws the refusal of the first rule that does not hold. */
export function refuse<T>(checks: readonly Check<T>[], subject: T): void {
  for (const [, holds, refusal] of checks) {
    if (!holds(subject)) throw refusal();
  }
}
