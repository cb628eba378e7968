import { and, boolean, type Collection, choose, nothing, or, type Scalar, type Value } from './logic.ts';
import { exists, type Variable } from './problem.ts';
import type { Environment } from './scope.ts';

/** A value of which nothing is known, and that may be another for each row. */
export function open(what: string, env: Environment, type = '', args: readonly Scalar[] = []): Scalar {
  env.problem.unknowns.add(`${what} in ${env.source}`);
  return env.problem.unknown(type, [...env.variables, ...args.flatMap(asArguments)]);
}

/** A value that is not understood: the judgement is unproven, whatever the value is. */
export function deny(what: string, env: Environment, type = ''): Scalar {
  env.problem.denied.add(`${what} in ${env.source}`);
  return open(what, env, type);
}

/** The same for the same arguments, and else of which nothing is known. */
export function apply(name: string, type: string, args: readonly Scalar[], env: Environment): Scalar {
  // A key of JSON is hardly the reason that a proof fails: who asks for it again gets the same.
  if (!/^operator ->>? /.test(name)) env.problem.unknowns.add(`${name} in ${env.source}`);
  // Of the same texts it may yield something else by another collation.
  if (
    args.some((argument) => env.catalogue.families.get(argument.type) === 'text') &&
    !/^operator (->>?|@>|\?) /.test(name)
  )
    return open(name, env, type, args);
  // A number stands for another value in each type.
  const types = args.map((argument) => argument.type || '?').join(', ');
  return env.problem.applied(`${name} of ${types}`, type, args.flatMap(asArguments));
}

const asArguments = ({ isNull, value, type }: Scalar): Variable[] => [
  { name: isNull, sort: 'Bool' },
  { name: value, sort: type === 'bool' ? 'Bool' : 'Int' },
];

export const asScalar = (value: Value): Scalar | undefined => (value.kind === 'scalar' ? value : undefined);
export const scalars = (values: readonly Value[]): Scalar[] | undefined =>
  values.every((value) => value.kind === 'scalar') ? (values as Scalar[]) : undefined;

export const integer = (value: number): Scalar => ({
  kind: 'scalar',
  type: 'int4',
  isNull: 'false',
  value: value < 0 ? `(- ${-value})` : String(value),
});

/** A type whose values depend on the search path. */
const isByPath = (type: string) => /^reg/.test(type);

/** The value of a literal. Texts and labels that differ are different values. */
export function literal(text: string, type: string, env: Environment): Scalar {
  // Such a literal is another value when it is read at another time or under another search path.
  if (isByPath(type) || (/^(date|time)/.test(type) && /now|today|tomorrow|yesterday/i.test(text)))
    return open(`a literal of ${type}`, env, type);
  const family = env.catalogue.families.get(type);
  const isText = type === 'unknown' || family === 'text' || family?.includes('.');
  if (family === 'int' && /^-?\d{1,15}$/.test(text)) return { ...integer(Number(text)), type };
  if (type === 'bool') {
    if (/^(t|true|f|false)$/i.test(text)) return boolean(String(/^t/i.test(text)));
    return { ...env.problem.applied(`${text}::bool`, 'bool', []), isNull: 'false' };
  }
  const isCut = type === 'name' && Buffer.byteLength(text) > 63;
  const value = isText && !isCut ? env.problem.literal(text) : env.problem.symbol(`${text}::${type}`, [], 'Int');
  return { kind: 'scalar', type, isNull: 'false', value, literal: text };
}

export function cast(value: Value, type: string, env: Environment): Value {
  if (value.kind === 'collection') return `${value.type}[]` === type ? value : open(`a cast to ${type}`, env, type);
  if (value.type === type) return value;
  if (value.type === 'unknown') return value.literal === undefined ? nothing(type) : literal(value.literal, type, env);
  if (hasOwnCast(value.type, type, env)) return deny(`a cast to ${type} of its own`, env, type);
  if (isByPath(type) || isByPath(value.type)) return open(`a cast to ${type}`, env, type, [value]);
  const [from, to] = [env.catalogue.families.get(value.type), env.catalogue.families.get(type)];
  // A name is cut to 63 bytes. An integer that does not fit is an error.
  if (from !== undefined && from === to && type !== 'name') return { ...value, type };
  // An empty text is none of these types. The cast is an error, and what comes after an error is left open.
  const isEmpty =
    from === 'text' && neverEmpty.has(to ?? type) ? `(= ${value.value} ${env.problem.literal('')})` : 'false';
  // Immutable or stable, and null of null; JSON has a null of its own.
  const made = env.problem.applied(`cast ${value.type} to ${type}`, type, [
    { name: value.value, sort: value.type === 'bool' ? 'Bool' : 'Int' },
  ]);
  return {
    ...made,
    isNull: or(value.isNull, isEmpty, from === undefined ? made.isNull : 'false'),
  };
}

const neverEmpty = new Set(['uuid', 'int', 'date', 'timestamp', 'timestamptz', 'bool', 'json', 'jsonb']);

/** Whether a cast may call a function of one's own, also for elements of an array or a domain's base. */
const hasOwnCast = (from: string, to: string, { catalogue: { casts } }: Environment): boolean =>
  casts.size > 0 && (from === '' || casts.has(`${from} ${to}`) || /[.[]/.test(from + to));

/** Literals take the type of the others; undefined when types differ. */
export function unified(values: readonly Scalar[], env: Environment): Scalar[] | undefined {
  const type = values.find((value) => value.type !== 'unknown')?.type ?? 'text';
  const family = env.catalogue.families.get(type) ?? type;
  const same = values.map((value) => (value.type === 'unknown' ? asScalar(cast(value, type, env)) : value));
  return same.every((value) => value && (env.catalogue.families.get(value.type) ?? value.type) === family)
    ? (same as Scalar[])
    : undefined;
}

export const either = (condition: string, then: Scalar, otherwise: Scalar): Scalar => ({
  kind: 'scalar',
  type: then.type,
  isNull: choose(condition, then.isNull, otherwise.isNull),
  value: choose(condition, then.value, otherwise.value),
});

/** The value if it may also be null; it is then no literal. */
export const maybeNull = ({ kind, type, value }: Scalar, isNull: string): Scalar => ({ kind, type, value, isNull });

/** The elements of an array. Which ones they are is a relation of the array and its elements. */
export function elementsOf(value: Value, env: Environment, expected = ''): Collection | undefined {
  if (value.kind === 'collection') return value;
  const type =
    value.type === 'unknown' && expected ? expected : value.type.endsWith('[]') ? value.type.slice(0, -2) : undefined;
  if (type === undefined) return undefined;
  if (value.literal !== undefined) {
    // Without quotes and escapes, and no array within.
    const [, list] = /^\{([^"\\{}]*)\}$/.exec(value.literal) ?? [];
    // Whether NULL is a null is a setting.
    if (list === undefined || /\bnull\b/i.test(list)) return undefined;
    const parts = list === '' ? [] : list.split(',').map((part) => part.trim());
    return { ...listOf(parts.map((part) => literal(part, type, env))), type };
  }
  const sort = type === 'bool' ? 'Bool' : 'Int';
  const { problem } = env;
  return {
    kind: 'collection',
    type,
    isNull: value.isNull,
    some(condition) {
      const variable = problem.variable(sort);
      const isElement = `(${problem.symbol(`element of ${type}[]`, ['Int', sort], 'Bool')} ${value.value} ${variable.name})`;
      const hasNull = `(${problem.symbol(`null in ${type}[]`, ['Int'], 'Bool')} ${value.value})`;
      return or(
        exists(variable, and(isElement, condition({ kind: 'scalar', type, isNull: 'false', value: variable.name }))),
        and(hasNull, condition(nothing(type))),
      );
    },
  };
}

export const listOf = (elements: readonly Scalar[]): Collection => ({
  kind: 'collection',
  type: elements[0]?.type ?? '',
  isNull: 'false',
  some: (condition) => or(...elements.map(condition)),
});
