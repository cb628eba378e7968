import { isOwnOperator, mayBeOwn } from './catalogue.ts';
import { compare, distinct, equality } from './comparisons.ts';
import { findUnknown } from './constructs.ts';
import {
  all,
  allOf,
  and,
  any,
  anyOf,
  boolean,
  type Collection,
  isFalse,
  isTrue,
  negation,
  not,
  nothing,
  or,
  type Scalar,
  type Value,
} from './logic.ts';
import { pathOf } from './names.ts';
import type { Node } from './parse.ts';
import { forAll } from './problem.ts';
import { type Environment, findColumn, findParameter, type Row, type Scope } from './scope.ts';
import {
  apply,
  asScalar,
  cast,
  deny,
  either,
  elementsOf,
  integer,
  listOf,
  literal,
  maybeNull,
  open,
  scalars,
  unified,
} from './values.ts';

/**
 * Translates an expression of SQL.
 *
 * Sound: each case says what PostgreSQL computes, null included; every other expression is `open`, a value that may be any. An error ends
 * a statement, so that a case need not say what comes after one. Comparisons are exact within families of types whose equality is identity
 * (`Catalogue.families`); all others are functions of their operands of which nothing else is known.
 */
export function translate(node: Node, scope: Scope, env: Environment): Value {
  if ('A_Const' in node) return translateConstant(node.A_Const, env);
  if ('ColumnRef' in node) {
    const path = (node.ColumnRef.fields ?? []).map(nameOf);
    // With a schema before it, a table's name is none of an alias.
    return (path.length > 2 ? undefined : findColumn(scope, path)) ?? deny(`column ${path.join('.')}`, env);
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
    // No operator of PostgreSQL's yields a composite.
    const isSimple = value.type === '' ? 'A_Expr' in node.NullTest.arg : env.catalogue.simpleTypes.has(value.type);
    if (!isSimple && value.kind === 'scalar' && value.type !== 'unknown')
      return deny('is null of a composite', env, 'bool');
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
  if ('TypeCast' in node && node.TypeCast.arg) return translateCast(node.TypeCast, scope, env);
  if ('CoalesceExpr' in node) {
    const values = scalars((node.CoalesceExpr.args ?? []).map((part) => translate(part, scope, env)));
    const same = values && unified(values, env);
    if (!same) return open('coalesce', env);
    return same.reduceRight((otherwise, value) => either(not(value.isNull), value, otherwise));
  }
  if ('CaseExpr' in node) return translateCase(node.CaseExpr, scope, env);
  if ('SQLValueFunction' in node) {
    // A client that may become another role may do so within a statement.
    const isKept = !env.isImmutable && (env.catalogue.roles.get(env.user)?.mayBecome.length ?? 1) <= 1;
    if (/^SVFOP_(CURRENT_)?(USER|ROLE)$/.test(node.SQLValueFunction.op ?? ''))
      return !isKept ? open('current_user', env, 'name') : literal(env.user, 'name', env);
    // One that is rounded is another time, and a setting of the function decides which day it is.
    return open('a time', env);
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

/** Translates it if all its constructs are in the table, and else denies it. */
export function translateWhole(node: Node, scope: Scope, env: Environment): Scalar {
  const unknown = findUnknown(node);
  return unknown ? deny(unknown, env, 'bool') : translateBoolean(node, scope, env);
}

export function translateBoolean(node: Node, scope: Scope, env: Environment): Scalar {
  const value = translate(node, scope, env);
  if (value.kind === 'scalar') {
    if (value.type === 'bool') return value;
    if (value.type === 'unknown') return asScalar(cast(value, 'bool', env)) ?? open('a literal', env, 'bool');
  }
  return open('a condition', env, 'bool');
}

function translateCast(
  { arg, typeName }: Extract<Node, { TypeCast: unknown }>['TypeCast'],
  scope: Scope,
  env: Environment,
): Value {
  const { names = [], arrayBounds, typmods } = typeName ?? {};
  const [first] = names.map(nameOf);
  const type = pathOf(first === 'pg_catalog' ? names.slice(1) : names) + (arrayBounds ? '[]' : '');
  if (!arg || (names.length === 1 && mayBeOwn(env.catalogue.ownTypes, first ?? '', env.isPinned)))
    return deny(`the type ${type}, of which there are several,`, env, type);
  const value = translate(arg, scope, env);
  return typmods ? open(`a cast to ${type} of a length`, env, type) : cast(value, type, env);
}

function translateConstant(
  { isnull, boolval, ival, sval, fval }: Extract<Node, { A_Const: unknown }>['A_Const'],
  env: Environment,
): Value {
  if (isnull) return nothing('unknown');
  if (boolval) return boolean(String(boolval.boolval ?? false));
  if (ival) return integer(ival.ival ?? 0);
  if (sval) return literal(sval.sval ?? '', 'unknown', env);
  return fval ? literal(fval.fval ?? '', 'numeric', env) : open('bits', env);
}

const nameOf = (node: Node): string => ('String' in node ? (node.String.sval ?? '') : '*');
const translateList = (node: Node, scope: Scope, env: Environment): Value[] =>
  'List' in node ? (node.List.items ?? []).map((item) => translate(item, scope, env)) : [translate(node, scope, env)];

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
  // `between` and the like compare by operators that they do not name.
  const meant = [path.join('.'), ...(/BETWEEN/.test(node.kind ?? '') ? ['<=', '>='] : [])];
  if (meant.some((name) => isOwnOperator(name, env.catalogue, env.isPinned)))
    return deny(`operator ${path.join('.')}`, env, 'bool');
  if (!node.lexpr)
    return second?.kind === 'scalar' ? apply(`prefix ${operator}`, '', [second], env) : open(operator, env);
  const first = translate(node.lexpr, scope, env);
  if (second === undefined) return open(operator, env);
  switch (node.kind) {
    case 'AEXPR_OP':
      // A setting of the client makes `is null` of it.
      if (isNullConstant(node.lexpr) || isNullConstant(node.rexpr)) return open('a comparison with null', env, 'bool');
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
      const equal = isTrue(equality(first, second, env));
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

const isNullConstant = (node: Node | undefined) =>
  node !== undefined && 'A_Const' in node && node.A_Const.isnull === true;

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
      if (isOwnOperator(operName?.map(nameOf).join('.') ?? '=', env.catalogue, env.isPinned))
        return deny('an operator', env, 'bool');
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

/**
 * The value of a query: null without a row, else that of one of its rows.
 * Which one may be another at each place: a function yields its first row, and the order is not known.
 */
function someRow(elements: Collection, env: Environment): Scalar {
  const { problem, variables } = env;
  const value = problem.unknown(elements.type, variables);
  const isOne = elements.some((element) => and(not(element.isNull), `(= ${element.value} ${value.value})`));
  problem.assume(forAll(variables, or(value.isNull, isOne)));
  return value;
}
