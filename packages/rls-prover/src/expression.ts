import { ownOrder } from './catalogue.ts';
import {
  all,
  allOf,
  and,
  any,
  anyOf,
  boolean,
  type Collection,
  choose,
  isFalse,
  isTrue,
  negation,
  not,
  nothing,
  or,
  type Scalar,
  type Value,
} from './logic.ts';
import { type Node, NotUnderstood } from './parse.ts';
import { exists, forAll, type Variable } from './problem.ts';
import { type Environment, findColumn, findParameter, type Row, type Scope } from './scope.ts';

/**
 * Translates an expression of SQL.
 *
 * Sound: each case says what PostgreSQL computes, null included; every other expression is `open`, a value that may be any. An error ends
 * a statement, so that a case need not say what comes after one. Comparisons are exact within families of types whose equality is identity
 * (`Catalogue.families`); all others are functions of their operands of which nothing else is known.
 */
export function translate(node: Node, scope: Scope, env: Environment): Value {
  if ('A_Const' in node) {
    const { isnull, boolval, ival, sval, fval } = node.A_Const;
    if (isnull) return nothing('unknown');
    if (boolval) return boolean(String(boolval.boolval ?? false));
    if (ival) return integer(ival.ival ?? 0);
    if (sval) return literal(sval.sval ?? '', 'unknown', env);
    return fval ? literal(fval.fval ?? '', 'numeric', env) : open('bits', env);
  }
  if ('ColumnRef' in node) {
    const path = (node.ColumnRef.fields ?? []).map(nameOf);
    return findColumn(scope, path) ?? open(`column ${path.join('.')}`, env);
  }
  if ('ParamRef' in node) {
    return findParameter(scope, `$${node.ParamRef.number}`) ?? open(`parameter $${node.ParamRef.number}`, env);
  }
  if ('BoolExpr' in node) {
    const parts = (node.BoolExpr.args ?? []).map((part) => translateBoolean(part, scope, env));
    if (node.BoolExpr.boolop === 'AND_EXPR') return all(parts);
    if (node.BoolExpr.boolop === 'OR_EXPR') return any(parts);
    return negation(parts[0] ?? nothing('bool'));
  }
  if ('NullTest' in node && node.NullTest.arg) {
    const value = translate(node.NullTest.arg, scope, env);
    return boolean(node.NullTest.nulltesttype === 'IS_NULL' ? value.isNull : not(value.isNull));
  }
  if ('BooleanTest' in node && node.BooleanTest.arg) {
    const value = translateBoolean(node.BooleanTest.arg, scope, env);
    const tests = {
      ...{ IS_TRUE: isTrue(value), IS_NOT_TRUE: not(isTrue(value)), IS_FALSE: isFalse(value) },
      ...{ IS_NOT_FALSE: not(isFalse(value)), IS_UNKNOWN: value.isNull, IS_NOT_UNKNOWN: not(value.isNull) },
    };
    const test = tests[node.BooleanTest.booltesttype as keyof typeof tests];
    return test === undefined ? open('a test', env, 'bool') : boolean(test);
  }
  if ('TypeCast' in node && node.TypeCast.arg) {
    const { names = [], arrayBounds, typmods } = node.TypeCast.typeName ?? {};
    const path = names.map(nameOf).filter((name) => name !== 'pg_catalog');
    const type = path.join('.') + (arrayBounds ? '[]' : '');
    const value = translate(node.TypeCast.arg, scope, env);
    return typmods ? open(`a cast to ${type} of a length`, env, type) : cast(value, type, env);
  }
  if ('CoalesceExpr' in node) {
    const values = scalars((node.CoalesceExpr.args ?? []).map((part) => translate(part, scope, env)));
    const same = values && unified(values, env);
    if (!same) return open('coalesce', env);
    return same.reduceRight((otherwise, value) => either(not(value.isNull), value, otherwise));
  }
  if ('CaseExpr' in node) return translateCase(node.CaseExpr, scope, env);
  if ('SQLValueFunction' in node) {
    if (/^SVFOP_(CURRENT_)?(USER|ROLE)$/.test(node.SQLValueFunction.op ?? ''))
      return env.isImmutable ? open('current_user', env, 'name') : literal(env.user, 'name', env);
    return env.isImmutable ? open('a time', env) : env.problem.applied(node.SQLValueFunction.op ?? '', '', []);
  }
  if ('FuncCall' in node) return env.language.callFunction(node.FuncCall, scope, env);
  if ('SubLink' in node) return translateSubquery(node.SubLink, scope, env);
  if ('A_Expr' in node) return translateOperator(node.A_Expr, scope, env);
  if ('A_ArrayExpr' in node) {
    const values = scalars((node.A_ArrayExpr.elements ?? []).map((part) => translate(part, scope, env)));
    const same = values && unified(values, env);
    return same ? listOf(same) : open('an array', env);
  }
  return open(Object.keys(node)[0] ?? 'an expression', env);
}

export function translateBoolean(node: Node, scope: Scope, env: Environment): Scalar {
  const value = translate(node, scope, env);
  if (value.kind === 'scalar') {
    if (value.type === 'bool') return value;
    if (value.type === 'unknown') return asScalar(cast(value, 'bool', env)) ?? open('a literal', env, 'bool');
  }
  return open('a condition', env, 'bool');
}

/** A value of which nothing is known, and that may be another for each row. */
export function open(what: string, env: Environment, type = '', args: readonly Scalar[] = []): Scalar {
  if (env.isFact) throw new NotUnderstood(what);
  env.problem.unknowns.add(`${what} in ${env.source}`);
  return env.problem.unknown(type, [...env.variables, ...args.flatMap(asArguments)]);
}

/** The same for the same arguments, and else of which nothing is known. */
export function apply(name: string, type: string, args: readonly Scalar[], env: Environment): Scalar {
  if (!env.isFact) env.problem.unknowns.add(`${name} in ${env.source}`);
  // A number stands for another value in each type.
  const types = args.map((argument) => argument.type || '?').join(', ');
  return env.problem.applied(`${name} of ${types}`, collated(type, args, env), args.flatMap(asArguments));
}

/**
 * The type of a text that is made of others.
 * It has their collation, which may take different texts for equal.
 */
function collated(type: string, args: readonly Scalar[], { catalogue }: Environment): string {
  const isOrdered = args.some(
    (argument) => argument.type.endsWith(ownOrder) || (argument.type === '' && catalogue.hasOwnOrders),
  );
  return isOrdered && catalogue.families.get(type) === 'text' ? type + ownOrder : type;
}

const asArguments = ({ isNull, value, type }: Scalar): Variable[] => [
  { name: isNull, sort: 'Bool' },
  { name: value, sort: type === 'bool' ? 'Bool' : 'Int' },
];

const asScalar = (value: Value): Scalar | undefined => (value.kind === 'scalar' ? value : undefined);
export const scalars = (values: readonly Value[]): Scalar[] | undefined =>
  values.every((value) => value.kind === 'scalar') ? (values as Scalar[]) : undefined;

const nameOf = (node: Node): string => ('String' in node ? (node.String.sval ?? '') : '*');
const integer = (value: number): Scalar => ({
  kind: 'scalar',
  type: 'int4',
  isNull: 'false',
  value: value < 0 ? `(- ${-value})` : String(value),
});

/** The value of a literal. Texts and labels that differ are different values. */
export function literal(text: string, type: string, env: Environment): Scalar {
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
  if (hasOwnCast(value.type, type, env)) return open(`a cast to ${type} of its own`, env, type, [value]);
  const [from, to] = [env.catalogue.families.get(value.type), env.catalogue.families.get(type)];
  // A name is cut to 63 bytes. An integer that does not fit is an error.
  if (from !== undefined && from === to && type !== 'name') return { ...value, type };
  if (env.isFact && /date|time/.test(value.type + type)) return open('a cast that settings decide about', env);
  // Immutable or stable, and null of null.
  return {
    ...env.problem.applied(`cast ${value.type} to ${type}`, collated(type, [value], env), [
      { name: value.value, sort: value.type === 'bool' ? 'Bool' : 'Int' },
    ]),
    isNull: value.isNull,
  };
}

/** Whether a cast may call a function of one's own, also for elements of an array or a domain's base. */
const hasOwnCast = (from: string, to: string, { catalogue: { casts } }: Environment): boolean =>
  casts.size > 0 && (from === '' || casts.has(`${from} ${to}`) || /[.[]/.test(from + to));

/** Literals take the type of the others; undefined when types differ. */
function unified(values: readonly Scalar[], env: Environment): Scalar[] | undefined {
  const type = values.find((value) => value.type !== 'unknown')?.type ?? 'text';
  const family = env.catalogue.families.get(type) ?? type;
  const same = values.map((value) => (value.type === 'unknown' ? asScalar(cast(value, type, env)) : value));
  return same.every((value) => value && (env.catalogue.families.get(value.type) ?? value.type) === family)
    ? (same as Scalar[])
    : undefined;
}

const either = (condition: string, then: Scalar, otherwise: Scalar): Scalar => ({
  kind: 'scalar',
  type: then.type,
  isNull: choose(condition, then.isNull, otherwise.isNull),
  value: choose(condition, then.value, otherwise.value),
});

function translateCase(node: Extract<Node, { CaseExpr: unknown }>['CaseExpr'], scope: Scope, env: Environment): Value {
  const cases: { condition: string; result: Value }[] = [];
  for (const part of node.args ?? []) {
    if (!('CaseWhen' in part) || !part.CaseWhen.expr || !part.CaseWhen.result) return open('case', env);
    const condition = node.arg
      ? equality(translate(node.arg, scope, env), translate(part.CaseWhen.expr, scope, env), env)
      : translateBoolean(part.CaseWhen.expr, scope, env);
    cases.push({ condition: isTrue(condition), result: translate(part.CaseWhen.result, scope, env) });
  }
  const otherwise = node.defresult ? translate(node.defresult, scope, env) : nothing('unknown');
  const results = scalars([...cases.map(({ result }) => result), otherwise]);
  const same = results && unified(results, env);
  const last = same?.at(-1);
  if (!same || !last) return open('case', env);
  return cases.reduceRight((rest, { condition }, index) => either(condition, same[index] ?? rest, rest), last);
}

function translateOperator(node: Extract<Node, { A_Expr: unknown }>['A_Expr'], scope: Scope, env: Environment): Value {
  const path = (node.name ?? []).map(nameOf);
  const operator = path.at(-1) ?? '';
  const right = node.rexpr ? translateList(node.rexpr, scope, env) : [];
  const [second] = right;
  if (isOwnOperator(path, env)) return open(`operator ${path.join('.')}`, env, 'bool');
  if (!node.lexpr)
    return second?.kind === 'scalar' ? apply(`prefix ${operator}`, '', [second], env) : open(operator, env);
  const first = translate(node.lexpr, scope, env);
  if (second === undefined) return open(operator, env);
  switch (node.kind) {
    case 'AEXPR_OP':
      return compare(operator, first, second, env);
    case 'AEXPR_OP_ANY':
    case 'AEXPR_OP_ALL': {
      const elements = elementsOf(second, env, first.kind === 'scalar' ? first.type : '');
      if (!elements) return open(`${operator} any`, env, 'bool');
      const each = (element: Scalar) => compare(operator, first, element, env);
      return node.kind === 'AEXPR_OP_ANY' ? anyOf(elements, each) : allOf(elements, each);
    }
    case 'AEXPR_IN': {
      // PostgreSQL parses `not in` as `<>`: different from all of the list.
      const parts = right.map((value) => compare(operator, first, value, env));
      return operator === '<>' ? all(parts) : any(parts);
    }
    case 'AEXPR_DISTINCT':
      return distinct(first, second, env);
    case 'AEXPR_NOT_DISTINCT':
      return negation(distinct(first, second, env));
    case 'AEXPR_NULLIF': {
      const equal = isTrue(compare('=', first, second, env));
      return first.kind === 'scalar' ? maybeNull(first, or(first.isNull, equal)) : open('nullif', env);
    }
    case 'AEXPR_BETWEEN':
      return all([compare('>=', first, second, env), compare('<=', first, right[1] ?? second, env)]);
    default: {
      const args = scalars([first, ...right]);
      return args ? apply(`${node.kind} ${operator}`, 'bool', args, env) : open(operator, env, 'bool');
    }
  }
}

/** What may be null is no literal any longer. */
export const maybeNull = ({ kind, type, value }: Scalar, isNull: string): Scalar => ({ kind, type, value, isNull });

/** Whether an operator may not be PostgreSQL's, by its name: what is printed need not say which it is. */
const isOwnOperator = (path: readonly string[], { catalogue }: Environment): boolean =>
  path.length > 1 ? path[0] !== 'pg_catalog' : catalogue.operators.has(path[0] ?? '');

/** The operator `=` where SQL does not write it. */
export const equality = (first: Value, second: Value, env: Environment): Scalar =>
  isOwnOperator(['='], env) ? open('an operator = of its own', env, 'bool') : compare('=', first, second, env);

const translateList = (node: Node, scope: Scope, env: Environment): Value[] =>
  'List' in node ? (node.List.items ?? []).map((item) => translate(item, scope, env)) : [translate(node, scope, env)];

function distinct(first: Value, second: Value, env: Environment): Scalar {
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

/** What an operator of PostgreSQL's own yields. */
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
  if (env.isFact && !a) return open(`operator ${operator}`, env);
  const isComparison = comparison !== undefined || /LIKE|~/.test(operator) || ['&&', '@>', '<@'].includes(operator);
  return apply(
    `operator ${operator} of ${first.type || '?'} and ${second.type || '?'}`,
    isComparison ? 'bool' : '',
    [first, second],
    env,
  );
}

/** Elements that are null have nothing in common, and are contained in nothing. */
function compareSets(isOverlap: boolean, left: Collection, right: Collection, env: Environment): Scalar {
  const isIn = (element: Scalar) => left.some((other) => isTrue(compare('=', element, other, env)));
  const value = isOverlap ? right.some(isIn) : not(right.some((element) => not(isIn(element))));
  return boolean(value, or(left.isNull, right.isNull));
}

/** The elements of an array. Which ones they are is a relation of the array and its elements. */
export function elementsOf(value: Value, env: Environment, expected = ''): Collection | undefined {
  if (value.kind === 'collection') return value;
  const type =
    value.type === 'unknown' && expected ? expected : value.type.endsWith('[]') ? value.type.slice(0, -2) : undefined;
  if (type === undefined) return undefined;
  if (value.literal !== undefined) {
    // Without quotes and escapes, and no array within.
    const [, list] = /^\{([^"\\{}]*)\}$/.exec(value.literal) ?? [];
    if (list === undefined) return undefined;
    const parts = list === '' ? [] : list.split(',').map((part) => part.trim());
    return { ...listOf(parts.map((part) => (/^null$/i.test(part) ? nothing(type) : literal(part, type, env)))), type };
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

const listOf = (elements: readonly Scalar[]): Collection => ({
  kind: 'collection',
  type: elements[0]?.type ?? '',
  isNull: 'false',
  some: (condition) => or(...elements.map(condition)),
});

function translateSubquery(
  { subLinkType, subselect, testexpr, operName }: Extract<Node, { SubLink: unknown }>['SubLink'],
  scope: Scope,
  env: Environment,
): Value {
  if (!subselect || !('SelectStmt' in subselect)) return open('a subquery', env);
  const select = subselect.SelectStmt;
  const isReading = select.fromClause !== undefined || select.op !== 'SETOP_NONE';
  if (isReading && env.isImmutable) return open('a query in a function that is marked immutable', env);
  const first = (row: Row, within: Environment) => row.column(row.columns[0] ?? '') ?? open('a column', within);
  const elements = (): Collection => {
    let type = '';
    env.language.forSome(select, scope, env, (row, within) => {
      type = first(row, within).type;
      return 'true';
    });
    return {
      ...{ kind: 'collection', type, isNull: 'false' },
      some: (condition) =>
        env.language.forSome(select, scope, env, (row, within) => {
          const element = first(row, within);
          return condition(element.kind === 'scalar' ? element : open('an array of arrays', within, type));
        }),
    };
  };
  switch (subLinkType) {
    case 'EXISTS_SUBLINK':
      return boolean(env.language.forSome(select, scope, env, () => 'true'));
    case 'ARRAY_SUBLINK':
      return elements();
    case 'ANY_SUBLINK':
    case 'ALL_SUBLINK': {
      if (!testexpr || 'RowExpr' in testexpr) return open('a subquery of rows', env, 'bool');
      const tested = translate(testexpr, scope, env);
      const operator = operName ? (operName.map(nameOf).at(-1) ?? '') : '=';
      if (isOwnOperator(operName?.map(nameOf) ?? ['='], env)) return open('an operator', env, 'bool');
      const each = (element: Scalar) => compare(operator, tested, element, env);
      return subLinkType === 'ANY_SUBLINK' ? anyOf(elements(), each) : allOf(elements(), each);
    }
    case 'EXPR_SUBLINK': {
      const [target] = select.targetList ?? [];
      const { whereClause, limitCount, limitOffset, havingClause, groupClause, withClause, valuesLists } = select;
      const isOne =
        !isReading &&
        ![whereClause, limitCount, limitOffset, havingClause, groupClause, withClause, valuesLists].some(Boolean);
      if (isOne && target && 'ResTarget' in target && target.ResTarget.val)
        return translate(target.ResTarget.val, scope, env);
      return someRow(elements(), env);
    }
    default:
      return open('a subquery', env);
  }
}

/** The value of a query: null without a row, else that of one of its rows. */
export function someRow(elements: Collection, env: Environment): Scalar {
  const { problem, variables } = env;
  const value = problem.unknown(elements.type, variables);
  const isOne = elements.some((element) => and(not(element.isNull), `(= ${value.value} ${element.value})`));
  problem.assume(forAll(variables, or(value.isNull, isOne)));
  return value;
}
