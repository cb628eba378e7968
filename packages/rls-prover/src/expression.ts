import { isOwnOperator, mayBeOwn } from './catalogue.ts';
import { findUnknown } from './constructs.ts';
import {
  all,
  allOf,
  and,
  any,
  anyOf,
  boolean,
  type Collection,
  choose,
  exists,
  forAll,
  isFalse,
  isTrue,
  negation,
  not,
  nothing,
  or,
  type Scalar,
  type Value,
  type Variable,
} from './formula.ts';
import { type Node, pathOf, type SelectStmt } from './parse.ts';
import { type Environment, findColumn, findParameter, type Row, reserved, type Scope } from './scope.ts';

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
    const { number = 0 } = node.ParamRef;
    return findParameter(scope, reserved(number)) ?? open(`parameter $${number}`, env);
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
    const same = values && merged(values, env);
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
    const same = values && merged(values, env);
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
  const same = results && merged(results, env);
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
    return second?.kind === 'scalar' ? apply(`prefix ${operator}`, '', [second], env, true) : open(operator, env);
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
      const [value] = scalars([first, second]) ? (unified([first, second] as Scalar[], env) ?? [first]) : [];
      return value?.kind === 'scalar'
        ? maybeNull(value, or(value.isNull, isTrue(equality(value, second, env))))
        : open('nullif', env);
    }
    case 'AEXPR_BETWEEN':
      return all([compare('>=', first, second, env), compare('<=', first, right[1] ?? second, env)]);
    default: {
      const args = scalars([first, ...right]);
      return args ? apply(`${node.kind} ${operator}`, 'bool', args, env, false) : open(operator, env, 'bool');
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
      const value = oneValueOf(select);
      return value ? translate(value, scope, { ...env, isAtRow: false }) : someRow(elements(), env);
    }
    default:
      return open('a subquery', env);
  }
}

/** The expression of a query that yields one value and reads nothing, or null. */
export function oneValueOf(select: SelectStmt): Node | null {
  const { fromClause, op, whereClause, limitCount, limitOffset, havingClause, groupClause, withClause, valuesLists } =
    select;
  const isMore = [fromClause, whereClause, limitCount, limitOffset, havingClause, groupClause, withClause, valuesLists];
  const [target] = select.targetList ?? [];
  return op === 'SETOP_NONE' && !isMore.some(Boolean) && target && 'ResTarget' in target
    ? (target.ResTarget.val ?? null)
    : null;
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
  const result = apply(name, isComparison ? 'bool' : (known?.type ?? ''), [first, right], env, !!known?.isImmutable);
  return known?.isStrict ? maybeNull(result, or(first.isNull, right.isNull, result.isNull)) : result;
}

/** Elements that are null have nothing in common, and are contained in nothing. */
function compareSets(isOverlap: boolean, left: Collection, right: Collection, env: Environment): Scalar {
  const isIn = (element: Scalar) => left.some((other) => isTrue(compare('=', element, other, env)));
  const value = isOverlap ? right.some(isIn) : not(right.some((element) => not(isIn(element))));
  return boolean(value, or(left.isNull, right.isNull));
}

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

/**
 * The same for the same arguments, and else of which nothing is known.
 *
 * @param isImmutable else settings decide it, too, which a client may change between two rows
 */
export function apply(
  name: string,
  type: string,
  args: readonly Scalar[],
  env: Environment,
  isImmutable: boolean,
): Scalar {
  // A key of JSON is hardly the reason that a proof fails: who asks for it again gets the same.
  if (!/^operator ->>? /.test(name)) env.problem.unknowns.add(`${name} in ${env.source}`);
  // By another collation it may yield something else for the same texts.
  const isCollated = args.some(({ type }) => env.catalogue.collated.has(type)) && !/^operator (->>?|@>|\?) /.test(name);
  if (isCollated || !(isImmutable || env.isAtRow)) return open(name, env, type, args);
  // A number stands for another value in each type.
  const types = args.map((argument) => argument.type || '?').join(', ');
  return env.problem.applied(`${name} of ${types}`, type, args.flatMap(asArguments));
}

const asArguments = ({ isNull, value, type }: Scalar): Variable[] => [
  { name: isNull, sort: 'Bool' },
  { name: value, sort: type === 'bool' ? 'Bool' : 'Int' },
];

const asScalar = (value: Value): Scalar | undefined => (value.kind === 'scalar' ? value : undefined);
export const scalars = (values: readonly Value[]): Scalar[] | undefined =>
  values.every((value) => value.kind === 'scalar') ? (values as Scalar[]) : undefined;

const integer = (value: number): Scalar => ({
  kind: 'scalar',
  type: 'int4',
  isNull: 'false',
  value: value < 0 ? `(- ${-value})` : String(value),
});

/** A type whose texts depend on the search path or the locale. */
const isBySetting = (type: string) => /^(reg|money$)/.test(type);
/** Texts that mean the same under all settings, by the type. */
const plainTimes: Readonly<Record<string, RegExp>> = {
  date: /^\d{4}-\d\d-\d\d$/,
  timestamp: /^\d{4}-\d\d-\d\d( \d\d:\d\d(:\d\d(\.\d+)?)?)?$/,
  timestamptz: /^\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d(\.\d+)?)?[+-]\d\d(:\d\d)?$/,
  time: /^\d\d:\d\d(:\d\d(\.\d+)?)?$/,
  timetz: /^\d\d:\d\d(:\d\d(\.\d+)?)?[+-]\d\d(:\d\d)?$/,
  interval: /^(\d+ [a-z]+ ?)*(\d\d:\d\d:\d\d)?$/,
};

/** The value of a literal. Texts and labels that differ are different values. */
export function literal(text: string, type: string, env: Environment): Scalar {
  // Such a literal is another value when it is read at another time or under other settings.
  if (isBySetting(type) || plainTimes[type]?.test(text) === false) return open(`a literal of ${type}`, env, type);
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
  if (value.type === 'unknown') {
    if (value.literal !== undefined) return literal(value.literal, type, env);
    // A literal that a query returns is a text.
    return value.isNull === 'true' ? nothing(type) : cast({ ...value, type: 'text' }, type, env);
  }
  if (hasOwnCast(value.type, type, env)) return deny(`a cast to ${type} of its own`, env, type);
  if (isBySetting(type) || isBySetting(value.type)) return open(`a cast to ${type}`, env, type, [value]);
  const [from, to] = [env.catalogue.families.get(value.type), env.catalogue.families.get(type)];
  // A name is cut to 63 bytes. An integer that does not fit is an error.
  if (from !== undefined && from === to && type !== 'name') return { ...value, type };
  // An empty text is none of these types. The cast is an error, and what comes after an error is left open.
  const isEmpty =
    from === 'text' && neverEmpty.has(to ?? type) ? `(= ${value.value} ${env.problem.literal('')})` : 'false';
  // Null of null; JSON has a null of its own.
  const made =
    isSettled(value.type, type, env) || env.isAtRow
      ? env.problem.applied(`cast ${value.type} to ${type}`, type, [
          { name: value.value, sort: value.type === 'bool' ? 'Bool' : 'Int' },
        ])
      : open(`a cast to ${type}`, env, type, [value]);
  return {
    ...made,
    isNull: or(value.isNull, isEmpty, from === undefined ? made.isNull : 'false'),
  };
}

/** Whether no setting decides what a cast yields. */
const isSettled = (from: string, to: string, { catalogue: { families } }: Environment): boolean => {
  const isOf = (types: ReadonlySet<string>) =>
    [from, to].every((type) => types.has(families.get(type) ?? type) || families.get(type)?.includes('.'));
  return isOf(settled) || isOf(withoutZone);
};
const settled = new Set('text int bool uuid numeric oid xid8 pg_lsn json jsonb'.split(' '));
const withoutZone = new Set(['date', 'timestamp']);

const neverEmpty = new Set(['uuid', 'int', 'date', 'timestamp', 'timestamptz', 'bool', 'json', 'jsonb']);

/** Whether a cast may call a function of one's own, also for elements of an array or a domain's base. */
const hasOwnCast = (from: string, to: string, { catalogue: { casts } }: Environment): boolean =>
  casts.size > 0 && (from === '' || casts.has(`${from} ${to}`) || /[.[]/.test(from + to));

/** As one type, as the result of an expression; undefined also where a name may cut a text. */
function merged(values: readonly Scalar[], env: Environment): Scalar[] | undefined {
  const types = new Set(values.map(({ type }) => type).filter((type) => type !== 'unknown'));
  return types.size > 1 && types.has('name') ? undefined : unified(values, env);
}

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

const listOf = (elements: readonly Scalar[]): Collection => ({
  kind: 'collection',
  type: elements[0]?.type ?? '',
  isNull: 'false',
  some: (condition) => or(...elements.map(condition)),
});
