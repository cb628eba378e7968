import type { PayloadRoot } from './internals.ts';

/**
 * Byte budget of an answer, spent while it is written, so that a too long one is never completed.
 * Counts UTF-16 code units, of which each takes at least a byte; the bytes are counted when the answer is complete.
 */
export class ByteBudget {
  #left: number;

  /** @param max finite, as what is left is subtracted from */
  constructor(max: number) {
    this.#left = max;
  }

  get left(): number {
    return this.#left;
  }

  /** @returns false when less was left */
  spend(units: number): boolean {
    this.#left -= units;
    return this.#left >= 0;
  }
}

/** The budget of an operation, stored on an object that Grafast keeps for it. */
function budgetOf(keeper: object & { [key]?: ByteBudget }, max: number): ByteBudget {
  keeper[key] ??= new ByteBudget(max);
  return keeper[key];
}

const key = Symbol('byte budget');

/**
 * Spends budget, and ends the whole answer, not only the current field, when that is exceeded.
 *
 * @throws {TooLongError}
 */
export function spendOn(root: PayloadRoot, units: number, max: number): void {
  if (budgetOf(root, max).spend(units)) return;
  root.errorBehavior = 'HALT';
  throw new TooLongError();
}

/** The answer has spent its byte budget. */
export class TooLongError extends Error {
  override name = 'TooLongError';

  constructor() {
    super('The answer is too long');
  }
}
