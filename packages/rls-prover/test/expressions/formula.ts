/**
 * Evaluates formulas of SMT-LIB in a finite world: the rows and values that PostgreSQL has.
 *
 * Quantifiers become the elements that there are. The formula keeps, for a solver, what the world does not know, such as the result of an
 * operator without a stated meaning. It shares no code with the prover.
 */
export type Term = string | readonly Term[];
/** A value, or the text of a formula whose value is not known. */
export type Ground = boolean | bigint | { readonly text: string };

export type World = {
  /** The elements of a sort: rows by their numbers, and all values of a type. */
  elementsOf(sort: string): readonly bigint[];
  /** The value of a function, where the world knows it. */
  apply(name: string, args: readonly bigint[]): boolean | bigint | undefined;
  /** How many terms may still be evaluated: nested quantifiers multiply. */
  budget: number;
};

/** The world's budget is spent. */
export class TooLong extends Error {}

/** The terms of a text. */
export function parseTerms(text: string): Term[] {
  const tokens = text.match(/\|[^|]*\||[()]|[^\s()|]+/g) ?? [];
  let at = 0;
  const next = (): Term => {
    const token = tokens[at++] ?? ')';
    if (token !== '(') return token;
    const parts: Term[] = [];
    while (tokens[at] !== ')') {
      if (at >= tokens.length) throw new Error(`The formula ends too early: ${text.slice(-80)}`);
      parts.push(next());
    }
    at++;
    return parts;
  };
  const terms: Term[] = [];
  while (at < tokens.length) terms.push(next());
  return terms;
}

type Bindings = ReadonlyMap<string, bigint>;

export function evaluate(term: Term, bindings: Bindings, world: World): Ground {
  if (world.budget-- <= 0) throw new TooLong();
  if (typeof term === 'string') {
    if (term === 'true' || term === 'false') return term === 'true';
    if (/^\d+$/.test(term)) return BigInt(term);
    return bindings.get(term) ?? world.apply(term, []) ?? { text: term };
  }
  const [head, ...rest] = term;
  const of = (part: Term | undefined) => evaluate(part ?? 'false', bindings, world);
  switch (head) {
    case 'and':
    case 'or':
      return combined(head, rest, of);
    case 'not':
      return negated(of(rest[0]));
    case 'ite': {
      const condition = of(rest[0]);
      if (typeof condition === 'boolean') return of(condition ? rest[1] : rest[2]);
      return { text: `(ite ${textOf(condition)} ${textOf(of(rest[1]))} ${textOf(of(rest[2]))})` };
    }
    case '-': {
      const value = of(rest[0]);
      return typeof value === 'bigint' ? -value : { text: `(- ${textOf(value)})` };
    }
    case 'exists':
    case 'forall':
      return quantified(head, rest, bindings, world);
    default:
      return applied(String(head), rest.map(of), world);
  }
}

function combined(head: 'and' | 'or', parts: readonly Term[], of: (part: Term) => Ground): Ground {
  const absorbing = head === 'or';
  const left: string[] = [];
  for (const part of parts) {
    const value = of(part);
    if (value === absorbing) return absorbing;
    if (typeof value !== 'boolean') left.push(textOf(value));
  }
  return left.length === 0 ? !absorbing : { text: left.length === 1 ? (left[0] ?? '') : `(${head} ${left.join(' ')})` };
}

const negated = (value: Ground): Ground => (typeof value === 'boolean' ? !value : { text: `(not ${textOf(value)})` });

function quantified(
  head: 'exists' | 'forall',
  [variables = [], body = 'true']: readonly Term[],
  bindings: Bindings,
  world: World,
): Ground {
  const [first, ...others] = variables as readonly (readonly [string, string])[];
  if (!first) return evaluate(body, bindings, world);
  const elements = world.elementsOf(first[1]).map(String);
  const inner = (element: Term) =>
    quantified(head, [others, body], new Map([...bindings, [first[0], BigInt(String(element))]]), world);
  return combined(head === 'exists' ? 'or' : 'and', elements, inner);
}

const comparisons: Readonly<Record<string, (a: bigint, b: bigint) => boolean>> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

function applied(name: string, args: readonly Ground[], world: World): Ground {
  const [a, b] = args;
  if (name === '=' && typeof a !== 'object' && typeof b !== 'object') return a === b;
  const compare = comparisons[name];
  if (compare && typeof a === 'bigint' && typeof b === 'bigint') return compare(a, b);
  if (name !== '=' && !compare && args.every((argument) => typeof argument === 'bigint')) {
    const value = world.apply(name, args as readonly bigint[]);
    if (value !== undefined) return value;
  }
  return { text: `(${name} ${args.map(textOf).join(' ')})` };
}

export const textOf = (value: Ground): string =>
  typeof value === 'object' ? value.text : typeof value === 'bigint' && value < 0n ? `(- ${-value})` : String(value);
