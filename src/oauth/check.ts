import type { OAuthError } from './errors.ts';

/** A rule that must hold, its source, and the answer when it does not hold. */
export type Check<T> = readonly [source: string, holds: (subject: T) => boolean, refusal: () => OAuthError];

/** Throws the refusal of the first rule that does not hold. */
export function refuse<T>(checks: readonly Check<T>[], subject: T): void {
  for (const [, holds, refusal] of checks) {
    if (!holds(subject)) throw refusal();
  }
}
