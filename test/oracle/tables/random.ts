/** A source of numbers that a seed repeats (mulberry32), and what is drawn with it. */
export type Random = {
  /** From 0 to below `end`. */
  below(end: number): number;
  chance(probability: number): boolean;
  pick<T>(values: readonly T[]): T;
  /** So many of them, in any order. */
  some<T>(values: readonly T[], count: number): T[];
};

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number) => Math.floor(next() * end);
  const some = <T>(values: readonly T[], count: number): T[] => {
    const left = [...values];
    return Array.from({ length: Math.min(count, left.length) }, () => left.splice(below(left.length), 1)).flat();
  };
  return {
    below,
    chance: (probability) => next() < probability,
    pick: <T>(values: readonly T[]) => {
      if (values.length === 0) throw new Error('There is nothing to pick from.');
      return values[below(values.length)] as T;
    },
    some,
  };
}
