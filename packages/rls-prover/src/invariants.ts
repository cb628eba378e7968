import { rowAccess, viewsOf } from './access.ts';
import type { Catalogue, Relation, Trigger } from './catalogue.ts';
import { effectsOf } from './effects.ts';
import { cast, literal, open, translateWhole } from './expression.ts';
import { and, isTrue, not, or, type Scalar } from './formula.ts';
import type { Command, Invariant, Options } from './interface.ts';
import { type Node, type Parser, referencesIn, type SelectStmt, selectsIn } from './parse.ts';
import {
  anyAlias,
  deepest,
  type Environment,
  emptyScope,
  everything,
  isMember,
  type Row,
  reserved,
  type Scope,
  type World,
  withinView,
} from './scope.ts';

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

const childrenOf = ({ name }: Relation, { relations }: Catalogue): Relation[] =>
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
  // The rows of a partition are its root's, but clients with a right to it read them as its own; a child of another kind has such rows.
  const isOfRoot = relation.kind === 'partition' && !invariant.roles.some((role) => hasRight(role, relation));
  const replaces = (one: Stated) => one.relation === relation.name || (isOfRoot && isOwn(one));
  const hasOwn = invariants.some((one) => one.name === invariant.name && replaces(one));
  return !hasOwn && invariant.columns.every((name) => relation.columns.some((column) => column.name === name));
}

const hasRight = (role: string, { privileges }: Relation): boolean =>
  commands.some((command) => (privileges[`${command} ${role}`] ?? []).length > 0);

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
 * Makes a condition about the rows that each select of a query reads, and each select of the views below it.
 * It leaves values from outside a select open: a select counts even if the query shows none of its rows.
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
  const outside: Row = { columns: [reserved('?')], column: () => open('a column from outside of a subquery', env) };
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
