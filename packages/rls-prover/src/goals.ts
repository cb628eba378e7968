import type { Catalogue, Relation, Trigger } from './catalogue.ts';
import { effectsOf } from './effects.ts';
import type { Command, Invariant, Options } from './interface.ts';
import type { Parser } from './parse.ts';

/** An invariant in full. */
export type Stated = Required<Invariant>;

export const inFull = (invariants: readonly Invariant[], roles: readonly string[]): Stated[] =>
  invariants.map((invariant) => ({ ...{ relation: '*', commands, roles, columns: [] }, ...invariant }));

/** A goal whose names are bound to the catalogue. */
export type BoundGoal = { invariant: Stated; relation: Relation; command: Command; role: string };

export const commands: readonly Command[] = ['select', 'insert', 'update', 'delete', 'truncate'];

/**
 * Every table, view, command and role for which an invariant is stated, of those that are asked.
 * That of a relation takes precedence over that of all.
 */
export function goalsOf(
  catalogue: Catalogue,
  invariants: readonly Stated[],
  isAsked: Options['isAsked'] = () => true,
): BoundGoal[] {
  const goals = [...catalogue.relations.values()].flatMap((relation) =>
    statedOf(relation, invariants, catalogue).flatMap((invariant) =>
      invariant.commands.flatMap((command) => invariant.roles.map((role) => ({ invariant, relation, command, role }))),
    ),
  );
  return goals.filter(({ invariant, relation, command, role }) =>
    isAsked({ invariant: invariant.name, relation: relation.name, command, role }),
  );
}

/**
 * The invariants of a relation. A view has all of them, since it may show or write a row of any table, and a parent those of its children.
 * Each name stands once, with all commands and roles for which it is stated.
 */
export function statedOf(relation: Relation, invariants: readonly Stated[], catalogue: Catalogue): Stated[] {
  const own = invariants.filter((invariant) => isAbout(invariant, relation, invariants));
  if (relation.kind === 'table' || relation.kind === 'partition') {
    const inherited = childrenOf(relation, catalogue).flatMap((child) =>
      invariants.filter((one) => isAbout(one, child, invariants)),
    );
    return [...new Set([...own, ...inherited.filter(({ name }) => !own.some((one) => one.name === name))])];
  }
  const others = invariants.filter(
    ({ name, expression }) => !predicates.test(expression) && !own.some((one) => one.name === name),
  );
  return [...Map.groupBy([...own, ...others], ({ name }) => name).values()].flatMap(([first, ...rest]) => {
    if (!first) return [];
    const all = [first, ...rest, ...invariants.filter(({ name }) => name === first.name)];
    return [
      {
        ...first,
        commands: commands.filter((command) => all.some((one) => one.commands.includes(command))),
        roles: [...new Set(all.flatMap(({ roles }) => roles))],
      },
    ];
  });
}

export const childrenOf = ({ name }: Relation, { relations }: Catalogue): Relation[] =>
  [...relations.values()].filter(({ parents }) => parents.includes(name));

/** A child whose rows have another invariant of this name than those of their parent. */
export const otherChild = (
  name: string,
  relation: Relation,
  invariants: readonly Stated[],
  catalogue: Catalogue,
): Relation | undefined => {
  const of = (one: Relation) =>
    invariants.filter((invariant) => invariant.name === name && isAbout(invariant, one, invariants));
  const own = new Set(of(relation));
  return childrenOf(relation, catalogue).find((child) => of(child).some((invariant) => !own.has(invariant)));
};

/** Notes the columns of relations that triggers and expressions write. A trigger that is not understood may write any column. */
export function noteAssigned(relations: Iterable<Relation>, catalogue: Catalogue, parser: Parser): void {
  const routines = new Map([...catalogue.functions.values()].flat().map((routine) => [routine.signature, routine]));
  for (const relation of relations) {
    const places = [relation.name, ...relation.parents, ...childrenOf(relation, catalogue).map(({ name }) => name)];
    const triggers = catalogue.triggers.filter((one) => one.isBefore && places.includes(one.relation ?? ''));
    const all = relation.columns.map(({ name }) => name);
    const generated = relation.columns.filter(({ isGenerated }) => isGenerated).map(({ name }) => name);
    const by = ({ signature }: Trigger): readonly string[] => {
      const routine = routines.get(signature);
      return (routine && effectsOf(routine, catalogue, parser).assigned) ?? all;
    };
    const of = (...fired: string[]) => [
      ...generated,
      ...triggers.filter(({ events }) => events.some((event) => fired.includes(event))).flatMap(by),
    ];
    // An update that moves a row to another partition inserts it there.
    const isMoved = places.length > 1;
    relation.assigned = { insert: of('insert'), update: isMoved ? of('update', 'insert') : of('update') };
  }
}

/** The predicates that only this prover knows. They are not asked of views: they follow from the invariants of the tables. */
export const predicates = /^(could_update|only_through)\(/;

export function isAbout(invariant: Stated, relation: Relation, invariants: readonly Stated[]): boolean {
  const isOwn = ({ relation: about }: Stated) => about === relation.name || relation.parents.includes(about);
  if (invariant.relation !== '*') return isOwn(invariant);
  if (predicates.test(invariant.expression) && relation.kind === 'view') return false;
  // The rows of a partition are its root's; a child of another kind has rows of its own.
  const replaces = (one: Stated) => one.relation === relation.name || (relation.kind === 'partition' && isOwn(one));
  const hasOwn = invariants.some((one) => one.name === invariant.name && replaces(one));
  return !hasOwn && invariant.columns.every((name) => relation.columns.some((column) => column.name === name));
}

/** The roles as which a client of this role may act: itself, and what it may become. */
export const actingRoles = (role: string, { roles }: Catalogue): readonly string[] =>
  roles.get(role)?.mayBecome ?? [role];

/** Whether a role may give the command at all, as itself or another; an update of one column is one. */
export function isPrivileged({ relation, command, role, invariant }: BoundGoal, catalogue: Catalogue): boolean {
  return actingRoles(role, catalogue).some((actor) => isGranted(relation, command, actor, invariant));
}

export function isGranted(
  relation: Relation,
  command: Command,
  actor: string,
  { columns }: Pick<Stated, 'columns' | 'relation'>,
): boolean {
  const granted = relation.privileges[`${command} ${actor}`] ?? relation.columns.map(({ name }) => name);
  const written = command === 'insert' || command === 'update' ? [...granted, ...relation.assigned[command]] : granted;
  // A view may have them by other names.
  const isWrite = relation.kind !== 'view' && (command === 'insert' || command === 'update');
  return granted.length > 0 && (!isWrite || columns.length === 0 || columns.some((name) => written.includes(name)));
}
