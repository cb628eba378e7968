/**
 * SQL's three-valued logic in SMT-LIB, which has two values.
 *
 * A value is a pair: whether it is null, and what it is otherwise. The second part says nothing about a null, so that no formula here
 * reads it without the first. `isTrue`, `isFalse` and null exclude each other, and a policy lets pass what `isTrue`.
 */
export type Scalar = {
  readonly kind: 'scalar';
  /** `unknown` is a literal that takes the other operand's type; `` is not known. */
  readonly type: string;
  readonly isNull: string;
  /** A Bool for a boolean. Otherwise an Int: each number stands for a value of the type. */
  readonly value: string;
  /** The text of a literal. */
  readonly literal?: string;
};

/** Values of one type, of which some may be null: an array, or what a subquery yields. */
export type Collection = {
  readonly kind: 'collection';
  readonly type: string;
  readonly isNull: string;
  /** Whether one of its elements satisfies a condition. */
  some(condition: (element: Scalar) => string): string;
};

export type Value = Scalar | Collection;

export const and = (...parts: readonly string[]): string => {
  const left = parts.filter((part) => part !== 'true');
  if (left.includes('false')) return 'false';
  return left.length > 1 ? `(and ${left.join(' ')})` : (left[0] ?? 'true');
};
export const or = (...parts: readonly string[]): string => {
  const left = parts.filter((part) => part !== 'false');
  if (left.includes('true')) return 'true';
  return left.length > 1 ? `(or ${left.join(' ')})` : (left[0] ?? 'false');
};
export const not = (part: string): string =>
  part === 'true'
    ? 'false'
    : part === 'false'
      ? 'true'
      : part.startsWith('(not ')
        ? part.slice(5, -1)
        : `(not ${part})`;
export const choose = (condition: string, then: string, otherwise: string): string =>
  condition === 'true' || then === otherwise
    ? then
    : condition === 'false'
      ? otherwise
      : `(ite ${condition} ${then} ${otherwise})`;

export const boolean = (value: string, isNull = 'false'): Scalar => ({ kind: 'scalar', type: 'bool', isNull, value });
export const nothing = (type: string): Scalar => ({
  kind: 'scalar',
  type,
  isNull: 'true',
  value: type === 'bool' ? 'false' : '0',
});

export const isTrue = (value: Scalar): string => and(not(value.isNull), value.value);
export const isFalse = (value: Scalar): string => and(not(value.isNull), not(value.value));

/** False if one is, else null if one is. */
export const all = (parts: readonly Scalar[]): Scalar => {
  const anyFalse = or(...parts.map(isFalse));
  return boolean(and(...parts.map(isTrue)), and(not(anyFalse), or(...parts.map((part) => part.isNull))));
};

/** True if one is, else null if one is. */
export const any = (parts: readonly Scalar[]): Scalar => {
  const anyTrue = or(...parts.map(isTrue));
  return boolean(anyTrue, and(not(anyTrue), or(...parts.map((part) => part.isNull))));
};

export const negation = (part: Scalar): Scalar => boolean(not(part.value), part.isNull);

/** `x op any (…)`: as `any`, over elements. */
export const anyOf = (elements: Collection, compare: (element: Scalar) => Scalar): Scalar => {
  const anyTrue = and(
    not(elements.isNull),
    elements.some((element) => isTrue(compare(element))),
  );
  return boolean(
    anyTrue,
    and(
      not(anyTrue),
      or(
        elements.isNull,
        elements.some((element) => compare(element).isNull),
      ),
    ),
  );
};

/** `x op all (…)`: as `all`, over elements. */
export const allOf = (elements: Collection, compare: (element: Scalar) => Scalar): Scalar =>
  negation(anyOf(elements, (element) => negation(compare(element))));

/** A variable of a formula: a row of a relation, an element of an array. */
export type Variable = { readonly name: string; readonly sort: string };

/**
 * One question to the solver: declarations, and what is not understood of the SQL that it is about.
 * A symbol that is declared and not restricted stands for any value, so that what is proven holds whichever it has. An unknown must be able
 * to differ from row to row: it is a function of all rows that it may depend on.
 */
export class Problem {
  readonly unknowns = new Set<string>();
  /** Constructs that are not in the table. A question that has one is never proven. */
  readonly denied = new Set<string>();

  readonly #declarations = new Map<string, string>();
  readonly #axioms = new Set<string>();
  readonly #literals = new Map<string, number>();
  #count = 0;

  /** A symbol, the same for the same name. */
  symbol(name: string, sorts: readonly string[], result: string): string {
    const symbol = quoted(name);
    this.#declarations.set(symbol, `(declare-fun ${symbol} (${sorts.join(' ')}) ${result})`);
    return symbol;
  }

  sort(name: string): string {
    const symbol = quoted(name);
    this.#declarations.set(`sort ${symbol}`, `(declare-sort ${symbol} 0)`);
    return symbol;
  }

  /** A new variable; what uses it quantifies it. */
  variable(sort: string): Variable {
    if (this.#count > maxVariables) throw new TooLarge();
    return { name: `v${this.#count++}`, sort };
  }

  /** A value that may be any, and another one for other rows. */
  unknown(type: string, variables: readonly Variable[]): Scalar {
    const name = `unknown ${this.#count++}`;
    return this.applied(name, type, variables);
  }

  /** The value that a function of this name yields for these arguments. */
  applied(name: string, type: string, args: readonly Variable[]): Scalar {
    const sorts = args.map(({ sort }) => sort);
    const values = args.map((argument) => argument.name);
    // One name may be that of functions of several types.
    const full = sorts.length > 0 ? `${name} of ${sorts.join(' ')}` : name;
    const of = (suffix: string, result: string) => application(this.symbol(full + suffix, sorts, result), values);
    return { kind: 'scalar', type, isNull: of(' is null', 'Bool'), value: of('', type === 'bool' ? 'Bool' : 'Int') };
  }

  /** A predicate of which nothing is known. */
  predicate(variables: readonly Variable[]): string {
    return this.unknown('bool', variables).value;
  }

  assume(axiom: string): void {
    if (axiom !== 'true') this.#axioms.add(axiom);
  }

  /** The number that stands for a literal: another one for each text. */
  literal(text: string): string {
    const number = this.#literals.get(text) ?? this.#literals.size + 1;
    this.#literals.set(text, number);
    return `(- ${number})`;
  }

  /** The literals by the numbers of a model. */
  get literals(): ReadonlyMap<string, string> {
    return new Map([...this.#literals].map(([text, number]) => [`-${number}`, text]));
  }

  /** As SMT-LIB 2.6: the formula that must not be satisfiable, and constants that show terms. */
  script(formula: string, shown: ReadonlyMap<string, string> = new Map()): string {
    const isSort = (line: string) => Number(line.startsWith('(declare-sort'));
    return [
      ...[...this.#declarations.values()].sort((a, b) => isSort(b) - isSort(a)),
      ...[...this.#axioms].map((axiom) => `(assert ${axiom})`),
      `(assert ${formula})`,
      ...[...shown].map(([name, term]) => `(declare-const |${name}| Int)(assert (= |${name}| ${term}))`),
    ].join('\n');
  }
}

/** A symbol of SMT-LIB, which has neither bars nor backslashes: another one for each name. */
const quoted = (name: string) =>
  `|${name.replaceAll(/[%|\\]/g, (character) => `%${character.charCodeAt(0).toString(16)}`)}|`;

const maxVariables = 3000;

/** A formula that grows without end is no proof. */
export class TooLarge extends Error {
  override name = 'TooLarge';
  override message = 'its formula is too large';
}

export const application = (symbol: string, args: readonly string[]): string =>
  args.length > 0 ? `(${symbol} ${args.join(' ')})` : symbol;

export const exists = ({ name, sort }: Variable, condition: string): string =>
  condition === 'false' ? 'false' : `(exists ((${name} ${sort})) ${condition})`;
export const forAll = (variables: readonly Variable[], condition: string): string =>
  variables.length === 0 || condition === 'true'
    ? condition
    : `(forall (${variables.map(({ name, sort }) => `(${name} ${sort})`).join(' ')}) ${condition})`;
