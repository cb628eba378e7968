/** A row as PostgreSQL sends it: texts, nulls and, by its {@link Shape}, rows of a statement within. */
export type Row = readonly Cell[];
export type Cell = string | null | readonly Row[];

/** By the positions of those cells that are rows themselves, what is in these. */
export type Shape = ReadonlyMap<number, Shape>;

/**
 * Parses a text of a `text[][]`, each of whose items is a row, together with the rows in its cells.
 *
 * Such a text contains texts. A text ends with `"` on the first level, with `\"` one level further in, and with `\\\"` on the next. A
 * backslash in a value is doubled on each level. So the number of backslashes before a mark determines its level, and nothing needs to be
 * unescaped level by level.
 *
 * @throws {SyntaxError} when it is no such text
 */
export function parseRows(text: string, shape: Shape): readonly Row[] {
  const parser = new Parser(text);
  const rows = parser.rows(shape, 0);
  if (parser.at !== text.length) throw new SyntaxError('Something follows the rows');
  return rows;
}

const [backslash, mark, comma, open, close] = ['\\', '"', ',', '{', '}'].map((character) => character.charCodeAt(0));

class Parser {
  at = 0;
  readonly #text: string;
  /** The next backslash, from somewhere before; behind the text when there is none. */
  #backslash = -1;

  constructor(text: string) {
    this.#text = text;
  }

  rows(shape: Shape, level: number): readonly Row[] {
    const rows: Row[] = [];
    this.#skip(open);
    if (this.#text.charCodeAt(this.at) === open) {
      // All rows are as wide as the first.
      let width = 0;
      do {
        const row = this.#row(shape, level, width);
        width = row.length;
        rows.push(row);
      } while (this.#isThere(comma));
    }
    this.#skip(close);
    return rows;
  }

  #row(shape: Shape, level: number, width: number): Row {
    const row = new Array<Cell>(width);
    let index = 0;
    this.#skip(open);
    do {
      row[index] = this.#cell(shape.get(index), level);
      index++;
    } while (this.#isThere(comma));
    this.#skip(close);
    return row;
  }

  #cell(shape: Shape | undefined, level: number): Cell {
    const code = this.#text.charCodeAt(this.at);
    if (code !== mark && code !== backslash) return this.#plain();
    // Backslashes and the mark.
    const length = 1 << level;
    this.at += length;
    if (!shape) return this.#quoted(level);
    const rows = this.rows(shape, level + 1);
    this.at += length;
    if (this.#text.charCodeAt(this.at - 1) !== mark) throw new SyntaxError('Rows without an end');
    return rows;
  }

  /** A text of letters, digits and the like. */
  #plain(): string | null {
    const text = this.#text;
    const start = this.at;
    let { at } = this;
    for (let code = text.charCodeAt(at); code !== comma && code !== close; code = text.charCodeAt(++at)) {
      if (at >= text.length) throw new SyntaxError('A text without an end');
    }
    this.at = at;
    return at - start === 4 && text.startsWith('NULL', start) ? null : text.slice(start, at);
  }

  /** Any text, from behind the mark at which it begins to behind the one at which it ends. */
  #quoted(level: number): string {
    const text = this.#text;
    const ofEnd = (1 << level) - 1;
    const doubled = 2 << level;
    let value = '';
    for (;;) {
      const start = this.at;
      const run = this.#nextBackslash();
      if (level === 0) {
        const end = text.indexOf('"', start);
        if (end === -1) throw new SyntaxError('A text without an end');
        if (end < run) {
          this.at = end + 1;
          return value + text.slice(start, end);
        }
      }
      let end = run;
      while (text.charCodeAt(end) === backslash) end++;
      if (end >= text.length) throw new SyntaxError('A text without an end');
      const backslashes = end - run;
      value += text.slice(start, run);
      this.at = end;
      if (text.charCodeAt(end) === mark) {
        this.at++;
        // One fewer than the power of two of the level, beside those that are meant.
        if ((backslashes & (doubled - 1)) === ofEnd) return value + '\\'.repeat(backslashes / doubled);
        value += `${'\\'.repeat(backslashes / doubled)}"`;
      } else {
        value += '\\'.repeat(backslashes / doubled);
      }
    }
  }

  #nextBackslash(): number {
    if (this.#backslash < this.at) {
      const found = this.#text.indexOf('\\', this.at);
      this.#backslash = found === -1 ? this.#text.length : found;
    }
    return this.#backslash;
  }

  #isThere(code: number | undefined): boolean {
    if (this.#text.charCodeAt(this.at) !== code) return false;
    this.at++;
    return true;
  }

  #skip(code: number | undefined): void {
    if (!this.#isThere(code)) throw new SyntaxError(`No rows at ${this.at}`);
  }
}
