import { rowAccess } from './access.ts';
import type { Action, Relation } from './catalogue.ts';
import { compare } from './comparisons.ts';
import { translate } from './expression.ts';
import { and, isTrue, nothing, or, type Value } from './logic.ts';
import { exists, type Variable } from './problem.ts';
import { actorIn, type Environment, emptyScope, isMember, type Row, rowOf } from './scope.ts';
import { cast, deny } from './values.ts';
import { baseOf } from './views.ts';

type Change = { command: 'delete' | 'update'; old: Row; updated: Row };

/**
 * That a row changes by the action of a foreign key, after a command of the actor on another table.
 *
 * Sound, to a fixed point: the formula asks for each row to which the row refers. That row may change by a command, or by an action itself.
 * PostgreSQL runs actions with the rights of the table's owner and past all policies (`ri_triggers.c`). Rows that refer to rows of their own
 * table form chains: along a chain, the columns stay equal that the key has on both sides.
 */
export function byActions(relation: Relation, change: Change, env: Environment, above: readonly string[] = []): string {
  const path = [...above, relation.name];
  return or(...relation.actions.map((action) => byAction(relation, action, change, env, path)));
}

function byAction(
  relation: Relation,
  action: Action,
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
  // What is not known of these rows may be another for each.
  const within = (...rows: Variable[]) => ({ ...env, variables: [...env.variables, ...rows] });
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
const sharedBy = ({ columns, referenced }: Action, old: Row, other: Row, env: Environment) =>
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
