import { rowAccess } from './access.ts';
import { byActions } from './actions.ts';
import type { Catalogue, Relation } from './catalogue.ts';
import { createEnvironment } from './environment.ts';
import { translateWhole } from './expression.ts';
import { referenceFacts, rowFacts } from './facts.ts';
import {
  actingRoles,
  type BoundGoal,
  baseOf,
  isAbout,
  isGranted,
  isLeaking,
  otherChild,
  predicates,
  type Stated,
  statedOf,
} from './goals.ts';
import type { Claim } from './interface.ts';
import { and, isTrue, not, or, type Scalar } from './logic.ts';
import { type Node, type Parser, selectsIn } from './parse.ts';
import { Problem } from './problem.ts';
import { forSome, forSomeRow } from './query.ts';
import { type Environment, everything, isMember, type Row, rowOf, type Scope, type World } from './scope.ts';
import { cast, literal } from './values.ts';

/** The database, and the statements about it that are judged. */
export type Given = {
  catalogue: Catalogue;
  parser: Parser;
  claims: readonly Claim[];
  invariants: readonly Stated[];
  /** What is true of every client's claims. */
  assumed?: readonly string[];
};

/** The question whether a goal can be violated. */
export type Question = { problem: Problem; formula: string };

/**
 * A formula that holds when some row breaks the invariant.
 *
 * Sound: if none does, whatever the database holds and a transaction claims, it cannot be satisfied. Rows are any that checks and keys
 * permit. A row of a view is judged by its own columns. The tables' invariant of the same name judges the rows that it is made of. A command
 * on a view is a command on its table.
 */
export function questionOf(goal: BoundGoal, given: Given, withReferences = false): Question {
  const { catalogue, invariants } = given;
  const problem = new Problem();
  const formulas = actingRoles(goal.role, catalogue).flatMap((actor) => {
    const env = createEnvironment(given, problem, actor, goal.relation.name);
    const isDirect = isGranted(goal.relation, goal.command, actor, goal.invariant);
    return [
      isDirect ? violation(goal, goal.relation, invariants, env, withReferences) : 'false',
      violationByActions(goal, env, withReferences),
    ].map((broken) => (broken === 'false' ? broken : and(assumedOf(given, env), broken)));
  });
  return { problem, formula: or(...formulas) };
}

/** What the server sees to of the claims of a client with the actor's role. */
export function assumedOf({ assumed = [], parser }: Given, env: Environment): string {
  const scope: Scope = { rows: [['claims', claimsOf(env)]] };
  return and(
    ...assumed.map((text) => isTrue(translateWhole(parser.expression(text), scope, { ...env, source: text }))),
  );
}

function violation(
  goal: BoundGoal,
  relation: Relation,
  invariants: readonly Stated[],
  env: Environment,
  withReferences: boolean,
): string {
  const { command } = goal;
  const { problem } = env;
  const invariant = relation === goal.relation ? goal.invariant : statedFor(relation, goal, invariants, env.catalogue);
  if (!invariant) return 'false';
  if (relation.kind === 'view')
    return command === 'select'
      ? violationInView(goal, relation, invariant, invariants, env)
      : violationThroughView(goal, relation, invariants, env, withReferences);
  const unknown = findUnknownRelation(relation, goal, invariants, env);
  if (unknown) {
    problem.denied.add(unknown);
    return 'true';
  }
  const sort = problem.sort(relation.name);
  const [old, updated] = ['old', 'new'].map((name) => ({ name: problem.symbol(name, [], sort), sort }));
  if (!old || !updated) return 'true';
  const [oldRow, newRow] = [rowOf(relation, old, problem), rowOf(relation, updated, problem)];
  const facts = (row: Row) =>
    and(rowFacts(relation, row, env), withReferences ? referenceFacts(relation, row, env) : 'true');
  const there = and(isMember(relation, old, env), facts(oldRow));
  switch (command) {
    case 'select':
      return and(
        there,
        rowAccess(relation, 'select', 'using', oldRow, env),
        not(holds(invariant, oldRow, oldRow, env, { relation, old: old.name })),
      );
    case 'delete':
      return and(
        there,
        rowAccess(relation, 'delete', 'using', oldRow, env),
        not(holds(invariant, oldRow, oldRow, env)),
      );
    case 'truncate':
      return and(there, not(holds(invariant, oldRow, oldRow, env)));
    case 'insert':
      return and(
        facts(newRow),
        rowAccess(relation, 'insert', 'check', newRow, env),
        not(holds(invariant, newRow, newRow, env)),
      );
    case 'update':
      return and(
        there,
        facts(newRow),
        rowAccess(relation, 'update', 'using', oldRow, env),
        rowAccess(relation, 'update', 'check', newRow, env),
        not(holds(invariant, oldRow, newRow, env, { relation, old: old.name })),
      );
  }
}

/** What of a table has no stated meaning: its kind, rules, and children of which something else must hold. */
function findUnknownRelation(
  { name, kind, isRewritten }: Relation,
  { invariant, command }: BoundGoal,
  invariants: readonly Stated[],
  { catalogue }: Environment,
): string | null {
  if (kind !== 'table' && kind !== 'partition') return `the ${kind} ${name}`;
  if (isRewritten && command !== 'select') return `a rule on ${name}`;
  const relation = catalogue.relations.get(name);
  const child = relation && otherChild(invariant.name, relation, invariants, catalogue);
  return child ? `the rows of ${child.name}, which ${name} has, too` : null;
}

/** Whether the action of a foreign key breaks the invariant. */
function violationByActions(goal: BoundGoal, env: Environment, withReferences: boolean): string {
  const { relation, command, invariant } = goal;
  if (command !== 'delete' && command !== 'update') return 'false';
  const actions = relation.actions.filter(
    ({ columns }) =>
      command === 'delete' ||
      invariant.columns.length === 0 ||
      invariant.columns.some((name) => columns.includes(name)),
  );
  if (actions.length === 0 || (predicates.test(invariant.expression) && command === 'delete')) return 'false';
  const { problem } = env;
  const sort = problem.sort(relation.name);
  const [old, updated] = [
    { name: problem.symbol('old', [], sort), sort },
    { name: problem.symbol('new', [], sort), sort },
  ];
  const [oldRow, newRow] = [
    rowOf(relation, old, problem),
    command === 'update' ? rowOf(relation, updated, problem) : rowOf(relation, old, problem),
  ];
  const happens = byActions({ ...relation, actions }, { command, old: oldRow, updated: newRow }, env);
  if (happens === 'false') return happens;
  const facts = (row: Row) =>
    and(rowFacts(relation, row, env), withReferences ? referenceFacts(relation, row, env) : 'true');
  return and(
    ...[isMember(relation, old, env), facts(oldRow), facts(newRow), happens],
    not(holds(invariant, oldRow, newRow, env, { relation, old: old.name })),
  );
}

/** Whether a view shows a row that breaks the invariant, or that is made of one. */
function violationInView(
  goal: BoundGoal,
  view: Relation,
  invariant: Stated,
  invariants: readonly Stated[],
  env: Environment,
): string {
  if (isLeaking(view, env.catalogue, env.parser)) env.problem.denied.add(`${view.name} without security_barrier`);
  const isOwn = isAbout(invariant, view, invariants) && isStatedOf(invariant, view, env);
  const shown = forSomeRow(view.name, env, (row, within) => {
    const own = isOwn ? [not(holds(invariant, row, row, within))] : [];
    return or(...own, readsBreaking(invariant.name, goal.role, invariants, within));
  });
  return shown === 'false' ? shown : or(shown, ...hiddenReads(view, invariant.name, goal.role, invariants, env));
}

/** Whether a command on a view breaks the invariant in the view's table. */
function violationThroughView(
  goal: BoundGoal,
  view: Relation,
  invariants: readonly Stated[],
  env: Environment,
  withReferences: boolean,
): string {
  const { command } = goal;
  const base = baseOf(view, env);
  if (!base || command === 'truncate') {
    env.problem.denied.add(`${command} on the view ${view.name}`);
    return 'true';
  }
  const actor = view.isInvoker ? env.actor : view.owner;
  return actor !== everything && (base.privileges[`${command} ${actor}`]?.length ?? 1) === 0
    ? 'false'
    : violation(goal, base, invariants, { ...env, actor }, withReferences);
}

/** The invariant of the same name for a table, which a command on its view must not break. */
export const statedFor = (
  relation: Relation,
  { invariant: { name }, command, role }: BoundGoal,
  invariants: readonly Stated[],
  catalogue: Catalogue,
) =>
  statedOf(relation, invariants, catalogue).find(
    (one) => one.name === name && one.commands.includes(command) && one.roles.includes(role),
  );

/** The rows that a view reads by its subqueries, at any depth. The rows outside of each subquery are left open. */
function hiddenReads(
  view: Relation,
  name: string,
  role: string,
  invariants: readonly Stated[],
  env: Environment,
): string[] {
  if (view.definition === null || env.depth > 12) return [];
  const within = { ...env, actor: view.isInvoker ? env.actor : view.owner, source: view.name, depth: env.depth + 1 };
  const query = env.parser.query(view.definition.replace(/;\s*$/, ''));
  const own = selectsIn(query).map((select) =>
    forSome(select, { rows: [] }, within, (_row, inner) => readsBreaking(name, role, invariants, inner)),
  );
  const inner = [...env.catalogue.relations.values()].filter(
    (other) => other.kind === 'view' && other !== view && view.definition?.includes(other.name),
  );
  return [...own, ...inner.flatMap((other) => hiddenReads(other, name, role, invariants, within))];
}

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

/** Whether a relation has the columns that an invariant speaks of. */
function isStatedOf({ expression }: Stated, relation: Relation, { parser }: Environment): boolean {
  const names = JSON.stringify(parser.expression(expression)).matchAll(
    /\{"String":\{"sval":"(?:old|new)"\}\},\{"String":\{"sval":"([^"]*)"\}\}/g,
  );
  return [...names].every(([, name]) => relation.columns.some((column) => column.name === name));
}

/** Whether an invariant's expression is true of rows; tables that it asks are read whole. */
function holds(
  invariant: Stated,
  old: Row,
  updated: Row,
  env: Environment,
  at?: { relation: Relation; old: string },
): string {
  const within = { ...env, actor: everything, source: `the invariant ${invariant.name}` };
  const expression = env.parser.expression(invariant.expression);
  const [predicate, argument] = predicateOf(expression);
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

/** The predicates that only this prover knows: `could_update(new)`, `only_through(old, 'table')`. */
function predicateOf(expression: Node): readonly (string | undefined)[] {
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
function claimsOf(env: Environment): Row {
  return {
    columns: env.claims.map(({ name }) => name),
    column(name) {
      if (name === 'role') return literal(env.user, 'name', env);
      const claim = env.claims.find((one) => one.name === name);
      if (claim === undefined) return undefined;
      const setting = env.problem.applied(`setting ${claim.setting}`, 'text', []);
      const text: Scalar = {
        ...setting,
        isNull: or(setting.isNull, `(= ${setting.value} ${env.problem.literal('')})`),
      };
      return cast(text, claim.type, env);
    },
  };
}
