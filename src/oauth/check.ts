import type { OAuthError } from './errors.ts';

/** A rule that must hold, where it comes from, and the answer when it does not. */
export type Check<T> = readonly [source: string, holds: (subject: T) => boolean, refusal: () => OAuthError];

/** Throws the refusal of the first rule that does not hold. */
export function refuse<T>(checks: readonly Check<T>[], subject: T): void {
  for (const [, holds, refusal] of checks) {
    if (!holds(subject)) throw refusal();
  }
}
