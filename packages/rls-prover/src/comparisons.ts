import { isOwnOperator } from './catalogue.ts';
import { and, boolean, type Collection, isFalse, isTrue, not, or, type Scalar, type Value } from './logic.ts';
import type { Environment } from './scope.ts';
import { apply, asScalar, cast, deny, elementsOf, maybeNull, open, unified } from './values.ts';

/** The operator `=` where SQL does not write it, so that what PostgreSQL prints does not say which it is. */
export const equality = (first: Value, second: Value, env: Environment): Scalar =>
  isOwnOperator('=', env.catalogue, false)
    ? deny('an operator = of its own', env, 'bool')
    : compare('=', first, second, env);

export function distinct(first: Value, second: Value, env: Environment): Scalar {
  const equal = equality(first, second, env);

  return boolean(
    or(
      and(first.isNull, not(second.isNull)),
      and(second.isNull, not(first.isNull)),
      isFalse(equal),
      and(not(first.isNull), not(second.isNull), equal.isNull),
    ),
  );
}

const orders = new Set(['int', 'date', 'timestamp', 'timestamptz']);
const comparisons: Record<string, (a: string, b: string) => string> = {
  '=': (a, b) => (a === b ? 'true' : `(= ${a} ${b})`),
  '<>': (a, b) => not(a === b ? 'true' : `(= ${a} ${b})`),
  '<': (a, b) => `(< ${a} ${b})`,
  '<=': (a, b) => `(<= ${a} ${b})`,
  '>': (a, b) => `(> ${a} ${b})`,
  '>=': (a, b) => `(>= ${a} ${b})`,
};

/** The result of one of PostgreSQL's own operators. */
export function compare(operator: string, first: Value, second: Value, env: Environment): Scalar {
  if (['&&', '@>', '<@'].includes(operator)) {
    const [a, b] = operator === '<@' ? [second, first] : [first, second];
    const [left, right] = [elementsOf(a, env), elementsOf(b, env)];
    if (left && right && left.type === right.type && env.catalogue.families.has(left.type))
      return compareSets(operator === '&&', left, right, env);
  }
  if (first.kind === 'collection' || second.kind === 'collection') {
    // An element of a subquery may be among them: the result may be another for each.
    const args = [first, second].filter((value) => value.kind === 'scalar');
    return open(`operator ${operator}`, env, 'bool', args);
  }
  const [a, b] = unified([first, second], env) ?? [];
  const family = a && env.catalogue.families.get(a.type);
  const comparison = comparisons[operator];
  if (a && b && comparison && family && (/^(=|<>)$/.test(operator) || orders.has(family)))
    return boolean(comparison(a.value, b.value), or(a.isNull, b.isNull));
  const isComparison = comparison !== undefined || /LIKE|~/.test(operator) || ['&&', '@>', '<@'].includes(operator);
  const known = env.catalogue.results.get(`${operator} ${first.type}`);
  const isTyped = second.type === 'unknown' && known?.right != null;
  const right = (isTyped ? asScalar(cast(second, known.right ?? '', env)) : second) ?? second;
  const name = `operator ${operator} of ${first.type || '?'} and ${right.type || '?'}`;
  const result = apply(name, isComparison ? 'bool' : (known?.type ?? ''), [first, right], env);
  return known?.isStrict ? maybeNull(result, or(first.isNull, right.isNull, result.isNull)) : result;
}

/** Elements that are null have nothing in common, and are contained in nothing. */
function compareSets(isOverlap: boolean, left: Collection, right: Collection, env: Environment): Scalar {
  const isIn = (element: Scalar) => left.some((other) => isTrue(compare('=', element, other, env)));
  const value = isOverlap ? right.some(isIn) : not(right.some((element) => not(isIn(element))));
  return boolean(value, or(left.isNull, right.isNull));
}
