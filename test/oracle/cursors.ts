import { type Entity, idOf } from './ids.ts';

/** A place in an order: behind a row, in lists of its type. */
export type Place = { readonly list: string; readonly signature: string; readonly entity: Entity };

/** Begins what the oracle says for a cursor, whose text the service alone knows. */
export const cursorMark = '\u0001cursor ';

/**
 * Cursors of an organization as they are learned from answers, since to a client they mean nothing but the place that they were read at.
 * One place has one cursor and one cursor one place.
 */
export class Cursors {
  readonly organizationId: string;
  readonly #mentioned = new Map<string, Place>();
  readonly #places = new Map<string, Place>();
  readonly #texts = new Map<string, string>();

  constructor(organizationId: string) {
    this.organizationId = organizationId;
  }

  /** @returns what stands for the cursor of a place in an expected answer */
  mention(place: Place): string {
    const name = nameOf(place);
    this.#mentioned.set(name, place);
    return cursorMark + name;
  }

  /**
   * Takes the cursor that was answered for what {@link mention} has returned.
   *
   * @returns whether it agrees with what was learned before
   */
  learn(mentioned: string, text: string): boolean {
    const name = mentioned.slice(cursorMark.length);
    const known = this.#texts.get(name);
    if (known !== undefined || this.#places.has(text)) return known === text;
    const place = this.#mentioned.get(name);
    if (!place) throw new Error(`No answer can have had the cursor of ${name}.`);
    this.#texts.set(name, text);
    this.#places.set(text, place);
    return true;
  }

  placeOf(text: string): Place | undefined {
    return this.#places.get(text);
  }

  /** What is learned by the copy is not known here. */
  copy(): Cursors {
    const copy = new Cursors(this.organizationId);
    for (const [name, place] of this.#mentioned) copy.#mentioned.set(name, place);
    for (const [name, text] of this.#texts) copy.#texts.set(name, text);
    for (const [text, place] of this.#places) copy.#places.set(text, place);
    return copy;
  }

  /** The texts that are known, by the list and the signature of the order. */
  texts(): ReadonlyMap<string, readonly string[]> {
    const all = new Map<string, string[]>();
    for (const [text, { list, signature }] of this.#places) {
      const texts = all.get(`${list} ${signature}`) ?? [];
      texts.push(text);
      all.set(`${list} ${signature}`, texts);
    }
    return all;
  }
}

const nameOf = ({ list, signature, entity }: Place): string => `${list} ${signature} ${idOf(entity)}`;
