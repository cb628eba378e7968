import { rowAccess } from './access.ts';
import { equality } from './comparisons.ts';
import { findUnknown } from './constructs.ts';
import { translate, translateBoolean } from './expression.ts';
import { rowFacts } from './facts.ts';
import { builtinOf, hasCall, setOf } from './functions.ts';
import { and, isTrue, not, nothing, or, type Value } from './logic.ts';
import type { Alias, Node, SelectStmt } from './parse.ts';
import { exists } from './problem.ts';
import {
  anyAlias,
  type Continue,
  type Environment,
  emptyScope,
  isMember,
  type Row,
  rowOf,
  type Scope,
} from './scope.ts';
import { deny, elementsOf, open } from './values.ts';

const deepest = 12;

/**
 * Whether a query yields a row that satisfies a condition.
 *
 * Sound in both directions, since it may stand below a negation. A row of `from` is a quantified variable that is in its table. It satisfies
 * `where`, and the condition of the table's own policies for the same role. `limit`, `having` and `skip locked` may exclude further rows:
 * that is a predicate of these variables about which nothing is known. Rows that are not understood have a sort of their own, and such a
 * predicate.
 */
export function forSome(select: SelectStmt, outer: Scope, env: Environment, then: Continue): string {
  if (env.depth > deepest) return someUnknown('a query this deep', env, then);

  if (
    select.op === 'SETOP_UNION' &&
    select.larg &&
    select.rarg &&
    !select.limitCount &&
    !select.limitOffset &&
    !select.withClause
  ) {
    let columns: readonly string[] = [];
    const left = forSome(select.larg, outer, env, (row, within) => {
      columns = row.columns;
      return then(row, within);
    });
    // The columns of a part without rows are not known.
    const right =
      columns.length === 0
        ? someUnknown('a union', env, then)
        : forSome(select.rarg, outer, env, (row, within) => then(renamed(row, columns), within));
    return or(left, right);
  }
  const set = setOf(select, outer, env);
  if (set) return forSomeOfSet(set, env, then);
  if (select.op !== 'SETOP_NONE' || select.withClause?.recursive) return someUnknown('a set operation', env, then);
  if (select.valuesLists) return someUnknown('values', env, then);

  const queries = new Map(outer.queries ?? inherited(outer));
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

function forSomeOfSet(set: NonNullable<ReturnType<typeof setOf>>, env: Environment, then: Continue): string {
  const { actor, user, depth, source, isImmutable } = env;
  return forSome(set.query, set.scope, set.env, (row, inner) =>
    then(row, { ...inner, actor, user, depth, source, isImmutable }),
  );
}

/** Whether a function may be an aggregate, or yield several rows; one that is not known may. */
function mayBeOfRows(name: string, { catalogue: { builtins, functions, ownNames } }: Environment): boolean {
  if (ownNames.has(name)) return true;
  const builtin = builtins.get(name.replace(/^pg_catalog\./, ''));
  if (builtin) return builtin.isOfRows;
  return (functions.get(name) ?? [null]).some((routine) => !routine || routine.isOfRows || routine.returnsSet);
}

const inherited = (scope: Scope): Scope['queries'] => scope.queries ?? (scope.parent && inherited(scope.parent));
/** `distinct` keeps a row of each kind, `distinct on` one of several. */
const isDistinctOn = ({ distinctClause }: SelectStmt) => distinctClause?.some((part) => Object.keys(part).length > 0);

function targets(select: SelectStmt, scope: Scope, env: Environment): Row {
  const columns: string[] = [];
  const values = new Map<string, () => Value>();
  const add = (name: string, value: () => Value) => {
    const free = values.has(name) ? `${name} ${columns.length}` : name;
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
      add(name ?? column ?? `?column? ${columns.length}`, () => translate(val, scope, env));
    }
  }
  return { columns, column: (name) => values.get(name)?.() };
}

const renamed = (row: Row, columns: readonly string[]): Row => ({
  columns,
  column: (name) => row.column(row.columns[columns.indexOf(name)] ?? ''),
});

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
  return { columns: ['?'], column };
};

type Bound = (scope: Scope, env: Environment) => string;

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
    const query = schemaname ? undefined : inherited(scope)?.get(relname);
    return query
      ? forSome(query.select, query.scope, { ...env, depth: env.depth + 1 }, named)
      : forSomeRow(`${schemaname}.${relname}`, env, named);
  }
  if ('RangeSubselect' in item && item.RangeSubselect.subquery && 'SelectStmt' in item.RangeSubselect.subquery) {
    const { alias, subquery, lateral } = item.RangeSubselect;
    // Unless it is lateral, it cannot refer to the other items of `from`.
    return forSome(subquery.SelectStmt, lateral ? scope : { ...scope, rows: [] }, env, (row, within) =>
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

/**
 * A row of a table that the actor may read, or of a view.
 * A view yields what its query does, with the rights of its owner unless it runs as its invoker.
 */
export function forSomeRow(name: string, env: Environment, then: Continue): string {
  const relation = env.catalogue.relations.get(name);
  if (!relation || relation.kind === 'materialized view' || relation.kind === 'foreign table') {
    deny(relation ? `the ${relation.kind} ${name}` : `rows of ${name}`, env);
    return someUnknown(`rows of ${name}`, env, then);
  }
  if (env.depth > deepest) return someUnknown(`rows of ${name}`, env, then);
  if (relation.kind === 'view' && relation.definition !== null) {
    if (!mayRead(env.actor)) return 'false';
    const query = env.parser.query(relation.definition.replace(/;\s*$/, ''));
    const unknown = findUnknown({ SelectStmt: query });
    if (unknown) deny(`${unknown} in ${name}`, env);
    const within = {
      ...env,
      actor: relation.isInvoker ? env.actor : relation.owner,
      depth: env.depth + 1,
      source: name,
    };
    return forSome(query, emptyScope, within, (row, inner) =>
      then(row, { ...inner, actor: env.actor, depth: env.depth, source: env.source }),
    );
  }
  const variable = env.problem.variable(env.problem.sort(name));
  const row = rowOf(relation, variable, env.problem);
  const within = { ...env, variables: [...env.variables, variable], reads: [...env.reads, { relation, row }] };
  if (!mayRead(env.actor)) return 'false';
  const access = rowAccess(relation, 'select', 'using', row, { ...within, depth: env.depth + 1 });
  if (access === 'false') return 'false';
  return exists(
    variable,
    and(isMember(relation, variable, within), rowFacts(relation, row, within), access, then(row, within)),
  );

  /** A role without the privilege gets an error. */
  function mayRead(actor: string): boolean {
    return actor === '' || (relation?.privileges[`select ${actor}`]?.length ?? 1) > 0;
  }
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
  const before = scope.rows.length;
  const on = (inner: Scope, within: Environment): string => {
    const condition = quals ? isTrue(translateBoolean(quals, inner, within)) : 'true';
    const using = (usingClause ?? []).map((part) => {
      const name = 'String' in part ? (part.String.sval ?? '') : '';
      const [left, right] = inner.rows
        .slice(before)
        .map(([, row]) => row.column(name))
        .filter((value) => value !== undefined);
      return left && right ? isTrue(equality(left, right, within)) : open('using', within, 'bool').value;
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
