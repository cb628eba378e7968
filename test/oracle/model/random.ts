/** Pseudo-random numbers of one seed (mulberry32), so that a run can be repeated. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** At least 0, less than 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from 0 to less than the bound. */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  /** Whether something of this probability happens. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }

  /** Some of the items in a drawn order, each with the probability. */
  some<Item>(items: readonly Item[], probability: number): Item[] {
    return this.shuffle(items.filter(() => this.chance(probability)));
  }

  shuffle<Item>(items: readonly Item[]): Item[] {
    const drawn = items.map((item) => ({ item, place: this.next() }));
    return drawn.sort((one, other) => one.place - other.place).map(({ item }) => item);
  }
}
