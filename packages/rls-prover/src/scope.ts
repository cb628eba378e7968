import type { Catalogue, Relation } from './catalogue.ts';
import { application, type Problem, type Value, type Variable } from './formula.ts';
import type { Claim } from './interface.ts';
import { type FuncCall, type Parser, partsOf, type SelectStmt } from './parse.ts';

/** The context in which an expression is translated. */
export type Environment = {
  /** How calls and queries within an expression are translated. */
  readonly language: Language;

  readonly catalogue: Catalogue;
  readonly parser: Parser;
  /** The claims of a transaction, each with its setting. */
  readonly claims: readonly Claim[];
  readonly problem: Problem;
  /** With whose rights tables are read; `everything` past all policies. */
  readonly actor: string;
  /** The value of `current_user`. */
  readonly user: string;
  readonly world: World;
  /** How many views, functions and policies this one is within. */
  readonly depth: number;
  /** The tables whose policies this one is within: PostgreSQL refuses a policy that asks itself. */
  readonly asked: readonly string[];
  /** The variables that an unknown may depend on. */
  readonly variables: readonly Variable[];
  /** The rows of tables that the query has read to come here. */
  readonly reads: readonly Read[];
  /** The SQL, as it is shown when a part of it is not understood. */
  readonly source: string;
  /** Within a function that is marked immutable: PostgreSQL may keep what it once yielded. */
  readonly isImmutable: boolean;
  /** Evaluated together with the row. PostgreSQL may evaluate a subquery before, and a client change settings in between. */
  readonly isAtRow: boolean;
  /** Whether names without a schema are PostgreSQL's own: in what it prints for the prover, and in functions whose search path says so. */
  readonly isPinned: boolean;
};

type Language = {
  callFunction(call: FuncCall, scope: Scope, env: Environment): Value;
  forSome(select: SelectStmt, scope: Scope, env: Environment, then: Continue): string;
};

/** Makes the condition on a row that a query yields. */
export type Continue = (row: Row, env: Environment) => string;

export const everything = '';

/** Which rows of one table there are: all, all but one, or that one. */
export type World = { readonly name: string; readonly relation?: string; contains?(row: string): string };

export type Row = { readonly columns: readonly string[]; column(name: string): Value | undefined };
/** `null`: rows that are not understood. */
type Read = { readonly relation: Relation | null; readonly row: Row };
export type Scope = {
  readonly rows: readonly (readonly [alias: string, row: Row])[];
  readonly parameters?: ReadonlyMap<string, Value>;
  readonly queries?: ReadonlyMap<string, { select: SelectStmt; scope: Scope }>;
  readonly parent?: Scope;
};

export const emptyScope: Scope = { rows: [] };

/** How many views, functions and policies may be within one another. */
export const deepest = 12;

/** The queries of `with` that a scope knows. */
export const queriesOf = (scope: Scope): Scope['queries'] => scope.queries ?? (scope.parent && queriesOf(scope.parent));

/**
 * The row that a variable stands for: each column is a function of it.
 * A column with `not null` has a value in every row.
 */
export function rowOf(relation: Relation, variable: Variable, problem: Problem): Row {
  return {
    columns: relation.columns.map(({ name }) => name),
    column(name) {
      const column = relation.columns.find((one) => one.name === name);
      if (!column) return undefined;
      const { type, notNull } = column;
      const of = (prefix: string, sort: string) =>
        application(problem.symbol(`${prefix}${relation.name}.${name}`, [variable.sort], sort), [variable.name]);
      const value = of('', type === 'bool' ? 'Bool' : 'Int');
      return { kind: 'scalar', type, isNull: notNull ? 'false' : of('null ', 'Bool'), value };
    },
  };
}

/** The scope of an expression about a row of a table, by the table's name or without it. */
export const scopeOf = ({ name }: Relation, row: Row): Scope => ({ rows: [[partsOf(name).at(-1) ?? '', row]] });

/** With whose rights a view reads: its owner's, or those of the current user, also below a view of another owner. */
export const actorIn = ({ isInvoker, owner }: Relation, { actor, user }: Environment): string =>
  !isInvoker ? owner : actor === everything ? everything : user;

/** Within a view. */
export const withinView = (view: Relation, env: Environment): Environment => ({
  ...env,
  actor: actorIn(view, env),
  source: view.name,
  depth: env.depth + 1,
});

/** Whether a row is in its table: of the rows that there could be, only some are. */
export function isMember(relation: Relation, variable: Variable, { problem, world }: Environment): string {
  const member = application(problem.symbol(`in ${relation.name}`, [variable.sort], 'Bool'), [variable.name]);
  return world.relation === relation.name && world.contains
    ? `(and ${member} ${world.contains(variable.name)})`
    : member;
}

/** A name that no object has, such as that of a parameter without one: PostgreSQL allows no such character. */
export const reserved = (name: string | number): string => `\0${name}`;

/** The alias of rows that are not understood: any name before a column may be theirs. */
export const anyAlias = reserved('any');

/** The innermost column of that name. Columns further out that an alias hides are not found. */
export function findColumn(scope: Scope, path: readonly string[]): Value | undefined {
  const [last = '', alias] = [...path].reverse();
  for (let level: Scope | undefined = scope; level; level = level.parent) {
    for (const [name, row] of level.rows) {
      const isMeant = alias === undefined || alias === name || name === anyAlias;
      const found = isMeant ? row.column(last) : undefined;
      if (found || (isMeant && alias !== undefined)) return found;
    }
    const parameter = alias === undefined ? level.parameters?.get(last) : undefined;
    if (parameter) return parameter;
  }
  return undefined;
}

export function findParameter(scope: Scope, name: string): Value | undefined {
  return scope.parameters?.get(name) ?? (scope.parent && findParameter(scope.parent, name));
}
