import { rowAccess } from './access.ts';
import type { Relation } from './catalogue.ts';
import { translateWhole } from './expression.ts';
import { isAbout, otherChild, predicates, type Stated } from './goals.ts';
import { and, isTrue, not, or, type Scalar } from './logic.ts';
import { referencesIn } from './names.ts';
import { type Node, type SelectStmt, selectsIn } from './parse.ts';
import {
  anyAlias,
  deepest,
  type Environment,
  emptyScope,
  everything,
  isMember,
  type Row,
  type Scope,
  type World,
  withinView,
} from './scope.ts';
import { cast, literal, open } from './values.ts';
import { viewsOf } from './views.ts';

/** Whether one of the rows that a query has read breaks what must hold of its table. */
export function readsBreaking(name: string, role: string, invariants: readonly Stated[], env: Environment): string {
  const broken = env.reads.flatMap(({ relation, row }) => {
    if (relation === null) return ['true'];
    const child = otherChild(name, relation, invariants, env.catalogue);
    if (child) env.problem.denied.add(`the rows of ${child.name}, which ${relation.name} has, too`);
    return invariants
      .filter((one) => one.name === name && one.roles.includes(role) && one.commands.includes('select'))
      .filter((one) => isAbout(one, relation, invariants) && !predicates.test(one.expression))
      .map((one) => not(holds(one, row, row, env)));
  });
  return or(...broken);
}

/**
 * Asks of each select within a query, and within the views that it reads, whether it reads rows of a kind.
 * What comes from outside of a select is left open, so that its reads count also where the query shows nothing of them.
 */
export function readsWithin(
  query: SelectStmt,
  scope: Scope,
  env: Environment,
  ask: (within: Environment) => string,
): string[] {
  if (env.depth > deepest) return ['true'];
  const { catalogue, parser, language } = env;
  // Another value wherever it is named: two columns of one name may be those of two tables.
  const outside: Row = { columns: ['?'], column: () => open('a column from outside of a subquery', env) };
  const inner = { ...scope, parent: { rows: [[anyAlias, outside] as const] } };
  const own = selectsIn(query).map((select) => language.forSome(select, inner, env, (_row, within) => ask(within)));
  const below = viewsOf(query, catalogue).flatMap((view) =>
    readsWithin(parser.query(view.definition ?? ''), emptyScope, withinView(view, env), ask),
  );
  return [...own, ...below];
}

/** Whether a relation has the columns that an invariant speaks of. */
export const isStatedOf = ({ expression }: Stated, { columns }: Relation, { parser }: Environment): boolean =>
  referencesIn(parser.expression(expression)).every(
    ({ row, column }) => row === 'claims' || columns.some(({ name }) => name === column),
  );

/** Whether an invariant's expression is true of rows; tables that it asks are read whole. */
export function holds(
  invariant: Stated,
  old: Row,
  updated: Row,
  env: Environment,
  at?: { relation: Relation; old: string; isByAction?: boolean },
): string {
  const within = { ...env, actor: everything, source: `the invariant ${invariant.name}` };
  const expression = env.parser.expression(invariant.expression);
  const [predicate, argument] = predicateOf(expression);
  if (predicate === 'could_update' && at?.isByAction) return keepsAccess(at.relation, old, updated, env);
  if (predicate === 'could_update' && at) return rowAccess(at.relation, 'update', 'using', updated, env);
  if (predicate === 'only_through' && at && argument) return isOnlyThrough(argument, at.relation, old, at.old, env);
  const scope: Scope = {
    rows: [
      ['old', old],
      ['new', updated],
      ['claims', claimsOf(within)],
    ],
  };
  return isTrue(translateWhole(expression, scope, within));
}

/** Whether each command that a client could give of a row before a foreign key changed it, it could give of the row after. */
const keepsAccess = (relation: Relation, old: Row, updated: Row, env: Environment) =>
  and(
    ...(['select', 'insert', 'update', 'delete'] as const).map((command) => {
      const may = (row: Row) => rowAccess(relation, command, command === 'insert' ? 'check' : 'using', row, env);
      return or(not(may(old)), may(updated));
    }),
  );

/** The predicates that only this prover knows: `could_update(new)`, `only_through(old, 'table')`. */
export function predicateOf(expression: Node): readonly (string | undefined)[] {
  const { funcname = [], args = [] } = 'FuncCall' in expression ? expression.FuncCall : {};
  const [name] = funcname;
  const last = args.at(-1);
  const text = last && 'A_Const' in last ? last.A_Const.sval?.sval : undefined;
  return funcname.length === 1 && name && 'String' in name ? [name.String.sval, text] : [];
}

/**
 * Whether what an actor loses by losing one row of a table is what that row alone gives.
 * Without the row it sees no more than before, and what it no longer sees it would see by that row alone.
 */
function isOnlyThrough(table: string, relation: Relation, row: Row, name: string, env: Environment): string {
  const { problem } = env;
  const lost = problem.symbol('lost', [], problem.sort(table));
  const variable = { name, sort: problem.sort(relation.name) };
  const sees = (world: World) => {
    const within = { ...env, world };
    return and(isMember(relation, variable, within), rowAccess(relation, 'select', 'using', row, within));
  };
  const before = sees({ name: 'this' });
  const after = sees({ name: 'without', relation: table, contains: (other) => `(not (= ${other} ${lost}))` });
  const alone = sees({ name: 'alone', relation: table, contains: (other) => `(= ${other} ${lost})` });
  // The premise of a select is that the row is seen before; that it is not and would be seen after is asked here, too.
  return and(or(not(before), after, alone), or(before, not(after)));
}

/** The claims of the transaction: its settings, whatever functions return for them. */
export function claimsOf(env: Environment): Row {
  return {
    columns: env.claims.map(({ name }) => name),
    column(name) {
      if (name === 'role') return literal(env.user, 'name', env);
      const claim = env.claims.find((one) => one.name === name);
      if (claim === undefined) return undefined;
      const setting = env.problem.applied(`setting ${claim.setting.toLowerCase()}`, 'text', []);
      const text: Scalar = {
        ...setting,
        isNull: or(setting.isNull, `(= ${setting.value} ${env.problem.literal('')})`),
      };
      return cast(text, claim.type, env);
    },
  };
}
