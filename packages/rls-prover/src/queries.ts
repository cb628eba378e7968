import { rowAccess } from './access.ts';
import type { Relation } from './catalogue.ts';
import { findUnknown } from './constructs.ts';
import { cast, deny, elementsOf, equality, open, translate, translateBoolean } from './expression.ts';
import { and, exists, isTrue, not, nothing, or, type Problem, type Value } from './formula.ts';
import { builtinOf, callFunction, hasCall, mayBeOfRows, type RowsOfFunction, setOf } from './functions.ts';
import { type Alias, type Node, namesIn, type SelectStmt } from './parse.ts';
import {
  anyAlias,
  type Continue,
  deepest,
  type Environment,
  emptyScope,
  everything,
  isMember,
  queriesOf,
  type Row,
  reserved,
  rowOf,
  type Scope,
  withinView,
} from './scope.ts';

/**
 * Whether a query yields a row that satisfies a condition.
 *
 * Sound in both directions, since it may stand below a negation. A row of `from` is a quantified variable that is in its table. It satisfies
 * `where`, and the condition of the table's own policies for the same role. `limit`, `having` and `skip locked` may exclude further rows:
 * that is a predicate of these variables about which nothing is known. Rows that are not understood have a sort of their own, and such a
 * predicate.
 */
export function forSome(select: SelectStmt, outer: Scope, around: Environment, then: Continue): string {
  const env = { ...around, isAtRow: false };
  if (env.depth > deepest) return someUnknown('a query this deep', env, then);

  if (isUnion(select)) return forSomeOfUnion(branchesOf(select), outer, env, then);
  const set = setOf(select, outer, env);
  if (set) return forSomeOfSet(set, env, then);
  if (select.op !== 'SETOP_NONE' || select.withClause?.recursive) return someUnknown('a set operation', env, then);
  if (select.valuesLists || isMerged(select)) return someUnknown('values, or all of a join by using', env, then);

  const queries = new Map(outer.queries ?? queriesOf(outer));
  for (const part of select.withClause?.ctes ?? []) {
    const query = 'CommonTableExpr' in part ? part.CommonTableExpr : undefined;
    if (!query?.ctequery || !('SelectStmt' in query.ctequery) || query.aliascolnames)
      return someUnknown('with', env, then);
    queries.set(query.ctename ?? '', {
      select: query.ctequery.SelectStmt,
      scope: { ...outer, queries: new Map(queries) },
    });
  }
  const isOfRows =
    select.havingClause !== undefined ||
    hasCall([select.targetList, select.sortClause, select.distinctClause], (name) => mayBeOfRows(name, env));
  const { limitCount, limitOffset, lockingClause, groupClause } = select;
  const isCut = isOfRows || limitCount || limitOffset || lockingClause || groupClause || isDistinctOn(select);
  const scope: Scope = { rows: [], queries, parent: outer };
  const rows = bindAll(select.fromClause ?? [], scope, env, (inner, within) => {
    const where = select.whereClause ? isTrue(translateBoolean(select.whereClause, inner, within)) : 'true';
    const kept = isCut ? open('a limit, group or aggregate', within, 'bool').value : 'true';
    return where === 'false' ? 'false' : and(where, kept, then(targets(select, inner, within), within));
  });
  // An aggregate, and a grouping by nothing, yield a row also of none.
  const isGrouped = groupClause?.every((part) => !('GroupingSet' in part)) ?? false;
  return (isOfRows && !isGrouped) || (groupClause && !isGrouped)
    ? or(rows, someUnknown('an aggregate', env, then, false))
    : rows;
}

const isUnion = ({ op, larg, rarg, limitCount, limitOffset, withClause }: SelectStmt) =>
  op === 'SETOP_UNION' && larg && rarg && !limitCount && !limitOffset && !withClause;

const branchesOf = (select: SelectStmt): SelectStmt[] =>
  isUnion(select) ? [select.larg, select.rarg].flatMap((side) => (side ? branchesOf(side) : [])) : [select];

/** A union has the names of its first branch, and casts the columns of all to one type. */
function forSomeOfUnion(branches: readonly SelectStmt[], outer: Scope, env: Environment, then: Continue): string {
  const { families } = env.catalogue;
  const shapes = branches.map((branch) => {
    let shape: { name: string; type: string }[] = [];
    forSome(branch, outer, env, (row) => {
      shape = row.columns.map((name) => ({ name, type: row.column(name)?.type ?? '' }));
      return 'true';
    });
    return shape;
  });
  const [first = []] = shapes;
  // The columns of a branch without rows are not known.
  if (shapes.some(({ length }) => length === 0 || length !== first.length)) return someUnknown('a union', env, then);
  const types = first.map((_, index) => {
    const all = new Set(shapes.map((shape) => shape[index]?.type ?? ''));
    const [type = 'text', ...others] = [...all].filter((one) => one !== 'unknown');
    const isOne = others.every((one) => families.has(one) && families.get(one) === families.get(type));
    // A name is cut.
    return isOne && (others.length === 0 || !all.has('name')) ? type : '';
  });
  const columns = first.map(({ name }) => name);
  const united = (row: Row): Row => ({
    columns,
    column(name) {
      const index = columns.indexOf(name);
      if (index < 0) return columns.some(isUnnamed) ? open(`column ${name}`, env) : undefined;
      const value = row.column(row.columns[index] ?? '');
      if (!value || !types[index]) return open('a union of several types', env);
      return value.type === 'unknown' ? cast(value, types[index], env) : value;
    },
  });
  return or(...branches.map((branch) => forSome(branch, outer, env, (row, within) => then(united(row), within))));
}

/** The rows of a function: one column, which has the function's name and type, or the name that the query gives. */
function forSomeOfSet(set: RowsOfFunction, env: Environment, then: Continue): string {
  const { actor, user, depth, source, isImmutable, isPinned } = env;
  return forSome(set.query, set.scope, set.env, (row, inner) => {
    const within = { ...inner, actor, user, depth, source, isImmutable, isPinned };
    const value = () => cast(row.column(row.columns[0] ?? '') ?? open('a column', inner), set.type, inner);
    return then({ columns: [set.column], column: (name) => (name === set.column ? value() : undefined) }, within);
  });
}

/** Whether it has all columns of a join by `using`, which makes one of two. */
const isMerged = ({ targetList = [], fromClause = [] }: SelectStmt) =>
  JSON.stringify(targetList).includes('"A_Star"') && namesIn(fromClause).keys.has('usingClause');

/** `distinct` keeps a row of each kind, `distinct on` one of several. */
const isDistinctOn = ({ distinctClause }: SelectStmt) => distinctClause?.some((part) => Object.keys(part).length > 0);

function targets(select: SelectStmt, scope: Scope, env: Environment): Row {
  const columns: string[] = [];
  const values = new Map<string, () => Value>();
  const add = (name: string, value: () => Value) => {
    const free = values.has(name) ? reserved(columns.length) : name;
    columns.push(free);
    values.set(free, value);
  };
  for (const target of select.targetList ?? []) {
    const { val, name } = 'ResTarget' in target ? target.ResTarget : {};
    if (!val) continue;
    const fields = 'ColumnRef' in val ? (val.ColumnRef.fields ?? []) : [];
    const last = fields.at(-1);
    if (last && 'A_Star' in last) {
      const [first] = fields;
      const alias = fields.length > 1 && first && 'String' in first ? first.String.sval : undefined;
      for (const [of, row] of scope.rows.filter(([of]) => alias === undefined || of === alias))
        for (const column of row.columns) add(column, () => row.column(column) ?? open(`${of}.${column}`, env));
    } else {
      const column = last && 'String' in last ? last.String.sval : undefined;
      add(name ?? column ?? reserved(columns.length), () => translate(val, scope, env));
    }
  }
  // PostgreSQL makes up a name for what has none, such as that of a function.
  const other = (name: string) => (columns.some(isUnnamed) ? open(`column ${name}`, env) : undefined);
  return { columns, column: (name) => values.get(name)?.() ?? other(name) };
}

const isUnnamed = (column: string) => column.startsWith(reserved(''));

type Bound = (scope: Scope, env: Environment) => string;

/** Each combination of rows of the items of `from`. */
function bindAll(items: readonly Node[], scope: Scope, env: Environment, then: Bound): string {
  const [item, ...rest] = items;
  return item ? bind(item, scope, env, (next, within) => bindAll(rest, next, within, then)) : then(scope, env);
}

const withRow = (scope: Scope, alias: string, row: Row): Scope => ({ ...scope, rows: [...scope.rows, [alias, row]] });

function bind(item: Node, scope: Scope, env: Environment, then: Bound): string {
  if ('RangeVar' in item) {
    const { schemaname, relname = '', alias, inh = false } = item.RangeVar;
    const named: Continue = (row, within) =>
      then(withRow(scope, alias?.aliasname ?? relname, aliased(row, alias)), within);
    // `only`, without the rows of children.
    if (!inh) return someUnknown(`only ${relname}`, env, named);
    const query = schemaname ? undefined : queriesOf(scope)?.get(relname);
    const [path = relname] = namesIn(item).relations;
    return query
      ? env.language.forSome(query.select, query.scope, { ...env, depth: env.depth + 1 }, named)
      : forSomeRow(env.catalogue.paths.get(path) ?? path, env, named);
  }
  if ('RangeSubselect' in item && item.RangeSubselect.subquery && 'SelectStmt' in item.RangeSubselect.subquery) {
    const { alias, subquery, lateral } = item.RangeSubselect;
    // Unless it is lateral, it cannot refer to the other items of `from`.
    return env.language.forSome(subquery.SelectStmt, lateral ? scope : { ...scope, rows: [] }, env, (row, within) =>
      then(withRow(scope, alias?.aliasname ?? '', aliased(row, alias)), within),
    );
  }
  if ('RangeFunction' in item) return bindFunction(item.RangeFunction, scope, env, then);
  if ('JoinExpr' in item) return bindJoin(item.JoinExpr, scope, env, then);
  return someUnknown('a part of from', env, (row, within) => then(withRow(scope, anyAlias, row), within));
}

function aliased(row: Row, alias: Alias | undefined): Row {
  const names = alias?.colnames?.map((column) => ('String' in column ? (column.String.sval ?? '') : ''));
  return names ? renamed(row, [...names, ...row.columns.slice(names.length)]) : row;
}

function bindFunction(
  { functions = [], alias, ordinality }: Extract<Node, { RangeFunction: unknown }>['RangeFunction'],
  scope: Scope,
  env: Environment,
  then: Bound,
): string {
  const [first] = functions;
  const [call] = first && 'List' in first ? (first.List.items ?? []) : [];
  const [argument, ...others] = call && 'FuncCall' in call ? (call.FuncCall.args ?? []) : [];
  const name = alias?.aliasname ?? 'unnest';
  const isUnnest = call && 'FuncCall' in call && builtinOf(call.FuncCall, env) === 'unnest';
  const array =
    isUnnest && argument && others.length === 0 && functions.length === 1 && !ordinality
      ? translate(argument, scope, env)
      : undefined;
  const elements = array?.kind === 'scalar' ? elementsOf(array, env) : undefined;
  const [column] = alias?.colnames ?? [];
  const columnName = column && 'String' in column ? (column.String.sval ?? name) : name;
  if (!elements)
    return someUnknown('a function in from', env, (row, within) => then(withRow(scope, anyAlias, row), within));
  return elements.some((element) => {
    const row: Row = { columns: [columnName], column: (asked) => (asked === columnName ? element : undefined) };
    const isVariable = element.isNull === 'false' && /^v\d+$/.test(element.value);
    const variables = isVariable ? [{ name: element.value, sort: element.type === 'bool' ? 'Bool' : 'Int' }] : [];
    return then(withRow(scope, name, row), { ...env, variables: [...env.variables, ...variables] });
  });
}

/** An outer join yields a row also where nothing matches; what would have matched is null. */
function bindJoin(
  join: Extract<Node, { JoinExpr: unknown }>['JoinExpr'],
  scope: Scope,
  env: Environment,
  then: Bound,
): string {
  const { larg, rarg, quals, usingClause, isNatural, jointype, alias } = join;
  if (!larg || !rarg || isNatural || alias)
    return someUnknown('a join', env, (row, within) => then(withRow(scope, anyAlias, row), within));
  // `using` of several tables, or of an outer join, has a column of neither side.
  const isSimple = jointype === 'JOIN_INNER' || jointype === 'JOIN_LEFT';
  if (usingClause && (!isSimple || [larg, rarg].some((side) => !('RangeVar' in side))))
    return someUnknown('a join by using', env, (row, within) => then(withRow(scope, anyAlias, row), within));
  const before = scope.rows.length;
  const on = (inner: Scope, within: Environment): string => {
    const condition = quals ? isTrue(translateBoolean(quals, inner, within)) : 'true';
    const using = (usingClause ?? []).map((part) => {
      const name = 'String' in part ? (part.String.sval ?? '') : '';
      const [left, right] = inner.rows
        .slice(before)
        .map(([, row]) => row.column(name))
        .filter((value) => value !== undefined);
      if (!left || !right) return open('using', within, 'bool').value;
      // The column that both become may have a type of neither.
      if (left.type !== right.type) deny('using of two types', within);
      return isTrue(equality(left, right, within));
    });
    return and(condition, ...using);
  };
  const matched = bind(larg, scope, env, (left, within) =>
    bind(rarg, left, within, (both, inner) => and(on(both, inner), then(both, inner))),
  );
  const alone = (kept: Node, other: Node): string =>
    bind(kept, scope, env, (some, within) => {
      const noMatch = not(bind(other, some, within, on));
      let missing: Scope['rows'] = [];
      bind(other, some, within, (both) => {
        missing = both.rows.slice(some.rows.length);
        return 'true';
      });
      const nulls = missing.map(([name, row]): readonly [string, Row] => [
        name,
        { columns: row.columns, column: (asked) => nullOf(row.column(asked)) },
      ]);
      // The columns of a side without rows are not known.
      const others = nulls.length > 0 ? nulls : [[anyAlias, unknownRow('a join', within)] as const];
      return and(noMatch, then({ ...some, rows: [...some.rows, ...others] }, within));
    });
  if (jointype === 'JOIN_INNER') return matched;
  return or(
    matched,
    jointype === 'JOIN_LEFT' || jointype === 'JOIN_FULL' ? alone(larg, rarg) : 'false',
    jointype === 'JOIN_RIGHT' || jointype === 'JOIN_FULL' ? alone(rarg, larg) : 'false',
  );
}

const nullOf = (value: Value | undefined): Value | undefined => value && nothing(value.type);

/**
 * A row of a table that the actor may read, or of a view.
 * A view yields what its query does, with the rights of its owner unless it runs as its invoker.
 */
export function forSomeRow(relation: Relation | string, env: Environment, then: Continue): string {
  const name = typeof relation === 'string' ? relation : relation.name;
  if (typeof relation === 'string' || relation.kind === 'materialized view' || relation.kind === 'foreign table') {
    deny(typeof relation === 'string' ? `rows of ${name}` : `the ${relation.kind} ${name}`, env);
    return someUnknown(`rows of ${name}`, env, then);
  }
  if (env.depth > deepest) return someUnknown(`rows of ${name}`, env, then);
  if (relation.kind === 'view' && relation.definition !== null) {
    if (!mayRead(relation, env)) return 'false';
    const query = env.parser.query(relation.definition);
    const unknown = findUnknown({ SelectStmt: query });
    if (unknown) deny(`${unknown} in ${name}`, env);
    return env.language.forSome(query, emptyScope, withinView(relation, env), (row, inner) =>
      then(row, { ...inner, actor: env.actor, depth: env.depth, source: env.source }),
    );
  }
  const variable = env.problem.variable(env.problem.sort(name));
  const row = rowOf(relation, variable, env.problem);
  const within = { ...env, variables: [...env.variables, variable], reads: [...env.reads, { relation, row }] };
  if (!mayRead(relation, env)) return 'false';
  const access = rowAccess(relation, 'select', 'using', row, { ...within, depth: env.depth + 1 });
  if (access === 'false') return 'false';
  return exists(variable, and(isMember(relation, variable, within), access, then(row, within)));
}

/** A role without the privilege gets an error. */
const mayRead = ({ privileges }: Relation, { actor }: Environment): boolean =>
  actor === everything || (privileges[`select ${actor}`]?.length ?? 1) > 0;

/** Rows of which nothing is known, not even whether there is one. */
function someUnknown(what: string, env: Environment, then: Continue, isRead = true): string {
  const variable = env.problem.variable(env.problem.sort('a row that is not understood'));
  const within = { ...env, variables: [...env.variables, variable] };
  const isRow = open(what, within, 'bool').value;
  const row = unknownRow(what, within);
  const reads = isRead ? [...within.reads, { relation: null, row }] : within.reads;
  return exists(variable, and(isRow, then(row, { ...within, reads })));
}

const unknownRow = (what: string, env: Environment): Row => {
  const known = new Map<string, Value>();
  const column = (name: string): Value => {
    const value = known.get(name) ?? open(`a column of ${what}`, env);
    known.set(name, value);
    return value;
  };
  return { columns: [reserved('?')], column };
};

/** A row whose columns have other names, in their order. */
const renamed = (row: Row, columns: readonly string[]): Row => ({
  columns,
  column: (name) => row.column(row.columns[columns.indexOf(name)] ?? ''),
});

/** Where translation begins: as a role, in the world as it is, within nothing. */
export const createEnvironment = (
  { catalogue, parser, claims }: Pick<Environment, 'catalogue' | 'parser' | 'claims'>,
  problem: Problem,
  actor: string,
  source: string,
): Environment => ({
  ...{
    language: { callFunction, forSome },
    catalogue,
    parser,
    claims,
    problem,
    actor,
    user: actor,
    world: { name: 'this' },
    depth: 0,
  },
  ...{ variables: [], asked: [], reads: [], source, isImmutable: false, isAtRow: true, isPinned: true },
});
