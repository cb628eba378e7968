import { rowAccess } from './access.ts';
import { byActions } from './actions.ts';
import type { Catalogue, Relation } from './catalogue.ts';
import { createEnvironment } from './environment.ts';
import { translateWhole } from './expression.ts';
import {
  actingRoles,
  type BoundGoal,
  isAbout,
  isGranted,
  otherChild,
  predicates,
  type Stated,
  statedOf,
} from './goals.ts';
import type { Claim } from './interface.ts';
import { claimsOf, holds, isStatedOf, readsBreaking, readsWithin } from './invariants.ts';
import { and, isTrue, not, or } from './logic.ts';
import type { Parser } from './parse.ts';
import { Problem } from './problem.ts';
import { forSomeRow } from './rows.ts';
import { actorIn, type Environment, emptyScope, everything, isMember, rowOf, type Scope, withinView } from './scope.ts';
import { baseOf, isLeaking } from './views.ts';

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
    const env = createEnvironment(given, problem, actor, relation.name);
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
