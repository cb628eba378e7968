import { baseOf, isLeaking, rowAccess } from './access.ts';
import type { Catalogue, ForeignKey, Relation } from './catalogue.ts';
import { cast, compare, deny, translate, translateWhole } from './expression.ts';
import { and, exists, isTrue, not, nothing, or, Problem, type Value, type Variable } from './formula.ts';
import type { Claim } from './interface.ts';
import {
  actingRoles,
  type BoundGoal,
  claimsOf,
  holds,
  isAbout,
  isGranted,
  isStatedOf,
  otherChild,
  predicates,
  readsBreaking,
  readsWithin,
  type Stated,
  statedOf,
} from './invariants.ts';
import type { Parser } from './parse.ts';
import { createEnvironment, forSomeRow } from './queries.ts';
import {
  actorIn,
  type Environment,
  emptyScope,
  everything,
  isMember,
  type Row,
  rowOf,
  type Scope,
  withinView,
} from './scope.ts';

/** The database, and the statements about it that are judged. */
export type Given = {
  catalogue: Catalogue;
  parser: Parser;
  claims: readonly Claim[];
  invariants: readonly Stated[];
  /** The assumptions about every client's claims. */
  assumed?: readonly string[];
};

/** The question whether a goal can be violated. */
export type Question = { problem: Problem; formula: string };

/** A goal, as one of the roles of its client. */
type Asked = { goal: BoundGoal; invariants: readonly Stated[]; env: Environment };

/**
 * A formula that holds when some row breaks the invariant.
 *
 * Sound: if none does, whatever the database holds and a transaction claims, it cannot be satisfied. Rows are any: what checks and foreign
 * keys say of them may be false within the statement that writes them, or under other settings. A row of a view is judged by its own columns. The tables' invariant of the same name judges the rows that it is made of. A command
 * on a view is a command on its table.
 */
export function questionOf(goal: BoundGoal, given: Given): Question {
  const { catalogue, invariants } = given;
  const { relation, command, role, invariant } = goal;
  const problem = new Problem();
  const formulas = actingRoles(role, catalogue).flatMap((actor) => {
    // The client's own expressions may change settings before the new row of an update is checked.
    const isAtRow = command !== 'update';
    const env = { ...createEnvironment(given, problem, actor, relation.name), isAtRow };
    const asked = { goal, invariants, env };
    const isDirect = isGranted(relation, command, actor, invariant);
    return [isDirect ? violation(relation, invariant, asked) : 'false', violationByActions(asked)].map((broken) =>
      broken === 'false' ? broken : and(assumedOf(given, env), broken),
    );
  });
  return { problem, formula: or(...formulas) };
}

/** The assumptions about the claims of a client with the actor's role. */
export function assumedOf({ assumed = [], parser }: Given, env: Environment): string {
  const scope: Scope = { rows: [['claims', claimsOf(env)]] };
  return and(
    ...assumed.map((text) => isTrue(translateWhole(parser.expression(text), scope, { ...env, source: text }))),
  );
}

/** Whether a command breaks an invariant of a relation, which is the goal's or the table of its view. */
function violation(relation: Relation, invariant: Stated, asked: Asked): string {
  const { goal, env } = asked;
  const { command } = goal;
  if (relation.kind === 'view')
    return command === 'select' ? violationInView(relation, invariant, asked) : violationThroughView(relation, asked);
  const unknown = findUnknownRelation(relation, asked);
  if (unknown) {
    env.problem.denied.add(unknown);
    return 'true';
  }
  const { old, updated, variable } = rowsOf(relation, env);
  const isReading = command !== 'insert';
  const isWriting = command === 'insert' || command === 'update';
  const at = command === 'select' || command === 'update' ? { relation, old: variable.name } : undefined;
  return and(
    ...(isReading ? [isMember(relation, variable, env)] : []),
    ...(isReading && command !== 'truncate' ? [rowAccess(relation, command, 'using', old, env)] : []),
    ...(isWriting ? [rowAccess(relation, command, 'check', updated, env)] : []),
    not(holds(invariant, isReading ? old : updated, isWriting ? updated : old, env, at)),
  );
}

/** The row before and the row after a command. */
function rowsOf(relation: Relation, env: Environment) {
  const sort = env.problem.sort(relation.name);
  const [variable, other] = [
    { name: env.problem.symbol('old', [], sort), sort },
    { name: env.problem.symbol('new', [], sort), sort },
  ];
  return {
    variable,
    old: rowOf(relation, variable, env.problem),
    updated: rowOf(relation, other, env.problem),
  };
}

/** Finds a part of a table without a stated meaning: its kind, a rule, or a child that has another invariant. */
function findUnknownRelation(relation: Relation, { goal, invariants, env }: Asked): string | null {
  const { name, kind, isRewritten } = relation;
  if (kind !== 'table' && kind !== 'partition') return `the ${kind} ${name}`;
  if (isRewritten && goal.command !== 'select') return `a rule on ${name}`;
  const child = otherChild(goal.invariant.name, relation, invariants, env.catalogue);
  return child ? `the rows of ${child.name}, which ${name} has, too` : null;
}

/** Whether the action of a foreign key breaks the invariant. */
function violationByActions(asked: Asked): string {
  const { goal, env } = asked;
  const { relation, command, invariant } = goal;
  if (command !== 'delete' && command !== 'update') return 'false';
  const { assigned } = relation;
  const actions = relation.actions.filter(
    ({ columns }) =>
      command === 'delete' ||
      invariant.columns.length === 0 ||
      // The action is an update, for which triggers run.
      invariant.columns.some((name) => columns.includes(name) || assigned.update.includes(name)),
  );
  if (actions.length === 0 || (predicates.test(invariant.expression) && command === 'delete')) return 'false';
  const { old, updated, variable } = rowsOf(relation, env);
  const then = command === 'update' ? updated : old;
  const happens = byActions({ ...relation, actions }, { command, old, updated: then }, env);
  if (happens === 'false') return happens;
  return and(
    ...[isMember(relation, variable, env), happens],
    not(holds(invariant, old, then, env, { relation, old: variable.name, isByAction: true })),
  );
}

/** Whether a view shows a row that breaks the invariant, or that is made of one. */
function violationInView(view: Relation, invariant: Stated, asked: Asked): string {
  const { goal, invariants, env } = asked;
  if (isLeaking(view, env.catalogue, env.parser)) env.problem.denied.add(`${view.name} without security_barrier`);
  const isOwn = isAbout(invariant, view, invariants) && isStatedOf(invariant, view, env);
  const shown = forSomeRow(view, env, (row, within) => {
    const own = isOwn ? [not(holds(invariant, row, row, within))] : [];
    return or(...own, readsBreaking(invariant.name, goal.role, invariants, within));
  });
  const query = env.parser.query(view.definition ?? '');
  const hidden = readsWithin(query, emptyScope, withinView(view, env), (inner) =>
    readsBreaking(invariant.name, goal.role, invariants, inner),
  );
  return or(shown, ...hidden);
}

/** Whether a command on a view breaks the invariant of the same name of the view's table. */
function violationThroughView(view: Relation, asked: Asked): string {
  const { goal, invariants, env } = asked;
  const { command } = goal;
  const base = baseOf(view, env);
  if (!base || command === 'truncate') {
    env.problem.denied.add(`${command} on the view ${view.name}`);
    return 'true';
  }
  const actor = actorIn(view, env);
  const isGivenUp = actor !== everything && (base.privileges[`${command} ${actor}`]?.length ?? 1) === 0;
  const invariant = statedFor(base, goal, invariants, env.catalogue);
  return isGivenUp || !invariant ? 'false' : violation(base, invariant, { ...asked, env: { ...env, actor } });
}

/** The invariant of the same name for a table, which a command on its view must not break. */
export const statedFor = (
  relation: Relation,
  { invariant: { name }, command, role }: BoundGoal,
  invariants: readonly Stated[],
  catalogue: Catalogue,
): Stated | undefined =>
  statedOf(relation, invariants, catalogue).find(
    (one) => one.name === name && one.commands.includes(command) && one.roles.includes(role),
  );

type Change = { command: 'delete' | 'update'; old: Row; updated: Row };

/**
 * That a row changes by the action of a foreign key, after a command of the actor on another table.
 *
 * Sound, to a fixed point: the formula asks for each row to which the row refers. That row may change by a command, or by an action itself.
 * PostgreSQL runs actions with the rights of the table's owner and past all policies (`ri_triggers.c`). Rows that refer to rows of their own
 * table form chains: along a chain, the columns stay equal that the key has on both sides.
 */
function byActions(relation: Relation, change: Change, env: Environment, above: readonly string[] = []): string {
  const path = [...above, relation.name];
  return or(...relation.actions.map((action) => byAction(relation, action, change, env, path)));
}

function byAction(
  relation: Relation,
  action: ForeignKey,
  change: Change,
  env: Environment,
  path: readonly string[],
): string {
  const { command, old, updated } = change;
  const { onDelete, onUpdate, references, name } = action;
  const isGone = command === 'delete' ? onDelete === 'cascade' : onDelete === 'null' || onDelete === 'default';
  const isMoved = command === 'update' && onUpdate !== 'none';
  const parent = env.catalogue.relations.get(references);
  if (!isGone && !isMoved) return 'false';
  const isChain = references === relation.name;
  if (
    !parent ||
    (!isChain && path.includes(references)) ||
    (isChain && (isMoved || path.filter((one) => one === references).length > 1))
  ) {
    deny(`the cycle of ${name} on ${relation.name}`, env);
    return 'true';
  }
  const { problem } = env;
  const [from, to] = [problem.variable(problem.sort(references)), problem.variable(problem.sort(references))];
  const [before, after] = [rowOf(parent, from, problem), rowOf(parent, to, problem)];
  const refers = (row: Row, other: Row) =>
    and(
      ...action.columns.map((column, index) =>
        equal(row.column(column), other.column(action.referenced[index] ?? ''), env),
      ),
    );
  // An unknown value may be another one for each of these rows.
  const within = (...rows: Variable[]) => ({ ...env, variables: [...env.variables, ...rows], isAtRow: false });
  const isThere = isMember(parent, from, env);
  const others = isChain ? { ...parent, actions: parent.actions.filter((one) => one !== action) } : parent;
  const isNear = isChain ? sharedBy(action, old, before, env) : refers(old, before);
  const deleted = () =>
    exists(
      from,
      and(isThere, isNear, happens(others, { command: 'delete', old: before, updated: before }, within(from), path)),
    );
  if (command === 'delete') return deleted();
  const sets = (columns: readonly string[], effect: string) => isSet(relation, columns, effect, old, updated, env);
  const moved = () => {
    const moves = happens(parent, { command: 'update', old: before, updated: after }, within(from, to), path);
    const then =
      onUpdate === 'cascade'
        ? and(refers(updated, after), sets(action.columns, 'any'))
        : sets(action.columns, onUpdate);
    return moves === 'false' ? 'false' : exists(from, exists(to, and(isThere, isNear, moves, then)));
  };
  return or(isGone ? and(deleted(), sets(action.sets, onDelete)) : 'false', isMoved ? moved() : 'false');
}

/** That the actor changes a row, by a command on its table or a view of it, or by an action. */
function happens(relation: Relation, change: Change, env: Environment, path: readonly string[]): string {
  const { command, old, updated } = change;
  const may = ({ privileges }: Relation) => (privileges[`${command} ${env.actor}`]?.length ?? 1) > 0;
  const as = (actor: string) => {
    const within = { ...env, actor };
    const using = rowAccess(relation, command, 'using', old, within);
    return command === 'delete' ? using : and(using, rowAccess(relation, command, 'check', updated, within));
  };
  const isOn = (view: Relation, { name }: Relation) => view.kind === 'view' && baseOf(view, env)?.name === name;
  const all = [...env.catalogue.relations.values()];
  const mayThrough = (view: Relation): boolean =>
    may(view) || all.some((above) => isOn(above, view) && mayThrough(above));
  const commands = may(relation) ? [as(env.actor)] : [];
  for (const other of all) {
    const isKin = other.parents.includes(relation.name) || relation.parents.includes(other.name);
    const isView = isOn(other, relation);
    if (!(isKin ? may(other) : isView && mayThrough(other))) continue;
    if (isKin) deny(`${command} of ${other.name}, which has rows of ${relation.name}`, env);
    else commands.push(as(actorIn(other, env)));
  }
  return or(...commands, byActions(relation, change, env, path));
}

/** That columns have the same value along a chain of rows that refer to each other. */
const sharedBy = ({ columns, referenced }: ForeignKey, old: Row, other: Row, env: Environment) =>
  and(
    ...columns
      .filter((column, index) => column === referenced[index])
      .map((column) => equal(old.column(column), other.column(column), env)),
  );

const equal = (first: Value | undefined, second: Value | undefined, env: Environment) =>
  first && second ? isTrue(compare('=', first, second, { ...env, source: 'a foreign key' })) : 'true';

/** That columns have the value that an action sets, and the others the one that they had, unless a trigger or expression sets it. */
function isSet(
  relation: Relation,
  columns: readonly string[],
  effect: string,
  old: Row,
  updated: Row,
  env: Environment,
): string {
  return and(
    ...relation.columns.map(({ name, type, default: text }) => {
      const [before, after] = [old.column(name), updated.column(name)];
      if (before?.kind !== 'scalar' || after?.kind !== 'scalar' || relation.assigned.update.includes(name))
        return 'true';
      if (!columns.includes(name)) return same(before, after);
      if (effect === 'any') return 'true';
      if (effect === 'null' || text === null) return same(nothing(type), after);
      const value = cast(
        translate(env.parser.expression(text), emptyScope, {
          ...env,
          source: `the default of ${relation.name}.${name}`,
        }),
        type,
        env,
      );
      return value.kind === 'scalar' ? same(value, after) : 'true';
    }),
  );
}

const same = (first: { isNull: string; value: string }, second: { isNull: string; value: string }) =>
  and(`(= ${first.isNull} ${second.isNull})`, or(first.isNull, `(= ${first.value} ${second.value})`));
