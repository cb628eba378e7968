import { equality } from './comparisons.ts';
import { translate, translateBoolean } from './expression.ts';
import { builtinOf } from './functions.ts';
import { and, isTrue, not, nothing, or, type Value } from './logic.ts';
import { namesIn } from './names.ts';
import type { Alias, Node } from './parse.ts';
import { forSomeRow, renamed, someUnknown, unknownRow } from './rows.ts';
import { anyAlias, type Continue, type Environment, queriesOf, type Row, type Scope } from './scope.ts';
import { elementsOf, open } from './values.ts';

type Bound = (scope: Scope, env: Environment) => string;

/** Each combination of rows of the items of `from`. */
export function bindAll(items: readonly Node[], scope: Scope, env: Environment, then: Bound): string {
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
