import type { Scalar } from './logic.ts';

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
