import { type ByteBudget, TooLongError } from './byteBudget.ts';

/**
 * Writes JSON as bytes into one shared buffer, and returns it as one string.
 * Strings and their ropes would be thousands of objects for a list. Each writer must be done before the next begins.
 */
export class JsonWriter {
  /** The text before the buffer's. */
  #text = '';
  #length = 0;
  readonly #budget: ByteBudget | null;

  constructor(budget: ByteBudget | null = null) {
    this.#budget = budget;
  }

  /** All that was written. */
  take(): string {
    this.#flush();
    return this.#text;
  }

  constant(piece: Constant): true {
    const { length } = piece;
    let at = this.#makeRoom(length);
    for (let index = 0; index < length; index++) buffer[at++] = piece[index] as number;
    this.#length = at;
    return true;
  }

  null(): false {
    this.constant(nullConstant);
    return false;
  }

  /** A piece that is JSON already. */
  json(piece: string): boolean {
    if (piece === 'null') return this.null();
    const { length } = piece;
    if (length > short) return this.#append(piece);
    let at = this.#makeRoom(length);
    for (let index = 0; index < length; index++) {
      const code = piece.charCodeAt(index);
      if (code > lastOfLatin1) return this.#append(piece);
      buffer[at++] = code;
    }
    this.#length = at;
    return true;
  }

  string(text: string): boolean {
    const { length } = text;
    if (length > short) return this.#append(quote(text));
    let at = this.#makeRoom(length + 2);
    buffer[at++] = mark;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code > lastOfLatin1) return this.#append(quote(text));
      if (code < space || code === mark || code === backslash) return this.json(JSON.stringify(text));
      buffer[at++] = code;
    }
    buffer[at++] = mark;
    this.#length = at;
    return true;
  }

  /**
   * A start and a short text, of a length divisible by three, as one string in base64 without `=`.
   *
   * @throws {RangeError} for characters that `btoa` does not take either
   */
  base64({ digits, bits, bitCount }: Base64Start, text: string): true {
    this.constant(digits);
    let at = this.#makeRoom((text.length / 3) * 4 + 2);
    let left = bits;
    let all = 0;
    // Three characters and the bits left before become four digits, and as many bits are left again.
    for (let index = 0; index < text.length; index += 3) {
      const a = text.charCodeAt(index);
      const b = text.charCodeAt(index + 1);
      const c = text.charCodeAt(index + 2);
      all |= a | b | c;
      left = (left << 24) | (a << 16) | (b << 8) | c;
      view.setUint16(at, base64Pairs[(left >> (bitCount + 12)) & 0xfff] as number);
      view.setUint16(at + 2, base64Pairs[(left >> bitCount) & 0xfff] as number);
      at += 4;
    }
    if (all > lastOfLatin1) throw new RangeError('Beyond Latin-1');
    if (bitCount > 0) buffer[at++] = base64Digit(left << (6 - bitCount));
    buffer[at++] = mark;
    this.#length = at;
    return true;
  }

  #append(piece: string): true {
    this.#flush();
    this.#spend(piece.length);
    this.#text += piece;
    return true;
  }

  /** @returns where in the buffer that many bytes fit */
  #makeRoom(length: number): number {
    if (this.#length + length > buffer.length) this.#flush();
    return this.#length;
  }

  #flush(): void {
    this.#spend(this.#length);
    this.#text += buffer.toString('latin1', 0, this.#length);
    this.#length = 0;
  }

  #spend(units: number): void {
    if (this.#budget?.spend(units) === false) throw new TooLongError();
  }
}

/** Room for the lists of most operations. */
const buffer = Buffer.allocUnsafeSlow(64 * 1024);
const view = new DataView(buffer.buffer);

/** Copying longer pieces by character would take longer than joining strings. */
const short = 100;

const [space, mark, backslash, lastOfLatin1] = [0x20, 0x22, 0x5c, 0xff];

/** JSON that is written again and again. */
export type Constant = Uint8Array;

/** @throws {RangeError} when it is too long for the buffer */
export function constantOf(json: string): Constant {
  if (json.length > buffer.length) throw new RangeError('A long constant');
  return new Uint8Array(Buffer.from(json, 'latin1'));
}

const nullConstant = constantOf('null');

/** The start of a text in base64: the mark, all known digits, and the bits of the next digit. */
export type Base64Start = { readonly digits: Constant; readonly bits: number; readonly bitCount: number };

export function startOfBase64(start: string): Base64Start {
  const bitCount = (start.length * 8) % 6;
  const digits = btoa(start).slice(0, Math.floor((start.length * 8) / 6));
  return { digits: constantOf(`"${digits}`), bits: start.charCodeAt(start.length - 1), bitCount };
}

const base64Digits = constantOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const base64Digit = (bits: number) => base64Digits[bits & 63] as number;

/** Two digits for each twelve bits. */
const base64Pairs = Uint16Array.from(
  { length: 1 << 12 },
  (_, bits) => (base64Digit(bits >> 6) << 8) | base64Digit(bits),
);

function quote(text: string): string {
  return special.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/** A quotation mark, a backslash, a control character or half of a surrogate pair. */
const special = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;
