import type { PayloadRoot } from './fusion/internals.ts';
import { refusal } from './refusal.ts';

/**
 * How much of an answer may still be written: it is counted while it is written, so that one that is too long is never put together.
 *
 * Counts UTF-16 code units, of which each takes a byte at least. Whether an answer within them has too many bytes shows the whole.
 */
export class ByteBudget {
  #left: number;

  /** @param most finite, as what is left is subtracted from */
  constructor(most: number) {
    this.#left = most;
  }

  get left(): number {
    return this.#left;
  }

  /** @returns false when there was less left */
  spend(units: number): boolean {
    this.#left -= units;
    return this.#left >= 0;
  }
}

/** The budget that goes with what Grafast keeps of an operation while it executes it, or writes its answer. */
export function budgetOf(keeper: object & { [key]?: ByteBudget }, most: number): ByteBudget {
  keeper[key] ??= new ByteBudget(most);
  return keeper[key];
}

const key = Symbol('byte budget');

/**
 * Counts what was written of an answer, and ends all of it when that is too much, not only the field that is written.
 *
 * @throws `LIMIT_EXCEEDED`
 */
export function spendOn(root: PayloadRoot, units: number, most: number): void {
  if (budgetOf(root, most).spend(units)) return;
  root.errorBehavior = 'HALT';
  throw refusal('LIMIT_EXCEEDED', `The most bytes that an answer may have are ${most}.`, { limit: 'bytes' });
}
