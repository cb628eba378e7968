/** What was found, of which the first hundred are kept, and what was counted on the way. */
export class Findings {
  readonly #texts: string[] = [];
  count = 0;
  /** Entries that are there and were sealed. */
  compared = 0;
  /** Entries that are gone with months that were older than the retention. */
  expired = 0;
  /** Entries of transactions that were open at the head. */
  cameLater = 0;

  add(text: string): void {
    this.count += 1;
    if (this.#texts.length < listedAtMost) this.#texts.push(text);
  }

  list(): string[] {
    const more = this.count - this.#texts.length;
    return more > 0 ? [...this.#texts, `And ${more} more.`] : this.#texts;
  }
}

const listedAtMost = 100;
