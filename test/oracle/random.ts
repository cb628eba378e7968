/** Random numbers by a name: the same name draws the same, wherever else is drawn. */
export type Random = {
  /** From 0 to `end`, without it. */
  below(end: number): number;
  /** From `from` to `to`, with both. */
  between(from: number, to: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** One of the list, or what is given when it is empty. */
  pickOr<T, U>(list: readonly T[], otherwise: U): T | U;
  /** As many as given, each at most once. */
  some<T>(list: readonly T[], count: number): T[];
  /** One of the keys, in proportion to its weight. */
  weighted<Key extends string>(weights: Readonly<Record<Key, number>>): Key;
};

/** Numbers of xmur3 and mulberry32, which are enough for tests. */
export function randomOf(...name: readonly (string | number)[]): Random {
  let state = hash(name.join('/'));
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number) => Math.floor(next() * end);
  const pick = <T>(list: readonly T[]): T => {
    if (list.length === 0) throw new Error('There is nothing to draw from.');
    return list[below(list.length)] as T;
  };
  return {
    below,
    between: (from, to) => from + below(to - from + 1),
    chance: (probability) => next() < probability,
    pick,
    pickOr: (list, otherwise) => (list.length === 0 ? otherwise : pick(list)),
    some(list, count) {
      const left = [...list];
      const taken: typeof left = [];
      while (left.length > 0 && taken.length < count) taken.push(...left.splice(below(left.length), 1));
      return taken;
    },
    weighted(weights) {
      const keys = Object.keys(weights) as (keyof typeof weights)[];
      let at = next() * keys.reduce((sum, key) => sum + weights[key], 0);
      for (const key of keys) {
        at -= weights[key];
        if (at < 0) return key;
      }
      return keys[keys.length - 1] as (typeof keys)[number];
    },
  };
}

/** FNV-1a with a final mix. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const letter of text) value = Math.imul(value ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) | 0;
}
