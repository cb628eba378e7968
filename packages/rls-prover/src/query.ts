import { translate, translateBoolean } from './expression.ts';
import { bindAll } from './from.ts';
import { hasCall, mayBeOfRows, type RowsOfFunction, setOf } from './functions.ts';
import { and, isTrue, or, type Value } from './logic.ts';
import { namesIn } from './names.ts';
import type { SelectStmt } from './parse.ts';
import { renamed, someUnknown } from './rows.ts';
import { type Continue, deepest, type Environment, queriesOf, type Row, type Scope } from './scope.ts';
import { cast, open } from './values.ts';

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
