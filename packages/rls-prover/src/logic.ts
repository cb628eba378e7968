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
