import type { Random } from '../random.ts';

/** A value as it stands in a document and in JSON; of a list, its items. */
export type Value = { readonly literal: string; readonly json: unknown; readonly items?: readonly Value[] };

type Definition = {
  readonly name: string;
  readonly type: string;
  readonly use: string;
  readonly defaultValue: string;
  readonly draw: () => Value;
  readonly mayBeNull: boolean;
};

/** The variables of a document, each with several values: it is asked with the first of all, with the second ones and so on. */
export class DrawnVariables {
  readonly #random: Random;
  readonly #definitions: Definition[] = [];
  readonly #sets: readonly Record<string, unknown>[];

  constructor(random: Random) {
    this.#random = random;
    this.#sets = Array.from({ length: random.pick([2, 2, 3, 4]) }, () => ({}));
  }

  /** One empty set where there are no variables. */
  values(): readonly Record<string, unknown>[] {
    return this.#definitions.length === 0 ? [{}] : this.#sets;
  }

  /** Defines one of the type, or takes one that is there for the same `use`; one that may not be null always has a value. */
  take(type: string, use: string, draw: () => Value, mayBeNull: boolean): string {
    const random = this.#random;
    const taken = this.#definitions.filter((one) => one.use === use && one.type === type);
    if (taken.length > 0 && random.chance(0.3)) return `$${random.pick(taken).name}`;

    return this.#define(type, use, draw, mayBeNull);
  }

  /** A selection again, in which some of the variables are others of the same type. */
  again(selection: string): string {
    const others = new Map<string, string>();
    return selection.replace(/\$v\d+/g, (variable) => {
      const known = this.#definitions.find(({ name }) => `$${name}` === variable);
      if (!known || others.has(variable)) return others.get(variable) ?? variable;
      const { type, use, draw, mayBeNull } = known;
      const other = this.#random.chance(0.6) ? this.#define(type, use, draw, mayBeNull) : variable;
      others.set(variable, other);
      return other;
    });
  }

  #define(type: string, use: string, draw: () => Value, mayBeNull: boolean): string {
    const random = this.#random;
    const name = `v${this.#definitions.length}`;
    const defaultValue = random.chance(0.25) ? draw().literal : '';
    this.#definitions.push({ name, type, use, defaultValue, draw, mayBeNull });
    const isRequired = type.endsWith('!') && random.chance(0.99);
    for (const set of this.#sets) {
      if ((defaultValue || (mayBeNull && !isRequired)) && random.chance(0.15)) continue;
      set[name] = mayBeNull && !isRequired && random.chance(0.1) ? null : draw().json;
    }
    return `$${name}`;
  }

  /** `($v0: Int = 3, $v1: ID!)`, or nothing. */
  toString(): string {
    const definitions = this.#definitions.map(
      ({ name, type, defaultValue }) => `$${name}: ${type}${defaultValue && ` = ${defaultValue}`}`,
    );
    return definitions.length === 0 ? '' : `(${definitions.join(', ')})`;
  }
}

/** JSON's strings are GraphQL's. */
export const textValue = (text: string): Value => ({ literal: JSON.stringify(text), json: text });

export const plainValue = (json: number | boolean): Value => ({ literal: String(json), json });

export const enumValue = (name: string): Value => ({ literal: name, json: name });

export const listValue = (items: readonly Value[]): Value => ({
  literal: `[${items.map(({ literal }) => literal).join(', ')}]`,
  json: items.map(({ json }) => json),
  items,
});
