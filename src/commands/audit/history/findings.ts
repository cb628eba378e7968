/** The findings, of which the first hundred are kept, and the counts of entries. */
export class Findings {
  readonly #texts: string[] = [];
  count = 0;
  /** Sealed entries that still exist. */
  compared = 0;
  /** Entries that were dropped with months older than the retention. */
  expired = 0;
  /** Entries of transactions that were open at the head. */
  cameLater = 0;

  add(text: string): void {
    this.count += 1;
    if (this.#texts.length < maxListed) this.#texts.push(text);
  }

  list(): string[] {
    const more = this.count - this.#texts.length;
    return more > 0 ? [...this.#texts, `And ${more} more.`] : this.#texts;
  }
}

const maxListed = 100;
