import { rowAccess } from './access.ts';
import type { Relation } from './catalogue.ts';
import { findUnknown } from './constructs.ts';
import { and, type Value } from './logic.ts';
import { exists } from './problem.ts';
import {
  type Continue,
  deepest,
  type Environment,
  emptyScope,
  everything,
  isMember,
  type Row,
  rowOf,
  withinView,
} from './scope.ts';
import { deny, open } from './values.ts';

/**
 * A row of a table that the actor may read, or of a view.
 * A view yields what its query does, with the rights of its owner unless it runs as its invoker.
 */
export function forSomeRow(relation: Relation | string, env: Environment, then: Continue): string {
  const name = typeof relation === 'string' ? relation : relation.name;
  if (typeof relation === 'string' || relation.kind === 'materialized view' || relation.kind === 'foreign table') {
    deny(typeof relation === 'string' ? `rows of ${name}` : `the ${relation.kind} ${name}`, env);
    return someUnknown(`rows of ${name}`, env, then);
  }
  if (env.depth > deepest) return someUnknown(`rows of ${name}`, env, then);
  if (relation.kind === 'view' && relation.definition !== null) {
    if (!mayRead(relation, env)) return 'false';
    const query = env.parser.query(relation.definition);
    const unknown = findUnknown({ SelectStmt: query });
    if (unknown) deny(`${unknown} in ${name}`, env);
    return env.language.forSome(query, emptyScope, withinView(relation, env), (row, inner) =>
      then(row, { ...inner, actor: env.actor, depth: env.depth, source: env.source }),
    );
  }
  const variable = env.problem.variable(env.problem.sort(name));
  const row = rowOf(relation, variable, env.problem);
  const within = { ...env, variables: [...env.variables, variable], reads: [...env.reads, { relation, row }] };
  if (!mayRead(relation, env)) return 'false';
  const access = rowAccess(relation, 'select', 'using', row, { ...within, depth: env.depth + 1 });
  if (access === 'false') return 'false';
  return exists(variable, and(isMember(relation, variable, within), access, then(row, within)));
}

/** A role without the privilege gets an error. */
const mayRead = ({ privileges }: Relation, { actor }: Environment): boolean =>
  actor === everything || (privileges[`select ${actor}`]?.length ?? 1) > 0;

/** Rows of which nothing is known, not even whether there is one. */
export function someUnknown(what: string, env: Environment, then: Continue, isRead = true): string {
  const variable = env.problem.variable(env.problem.sort('a row that is not understood'));
  const within = { ...env, variables: [...env.variables, variable] };
  const isRow = open(what, within, 'bool').value;
  const row = unknownRow(what, within);
  const reads = isRead ? [...within.reads, { relation: null, row }] : within.reads;
  return exists(variable, and(isRow, then(row, { ...within, reads })));
}

export const unknownRow = (what: string, env: Environment): Row => {
  const known = new Map<string, Value>();
  const column = (name: string): Value => {
    const value = known.get(name) ?? open(`a column of ${what}`, env);
    known.set(name, value);
    return value;
  };
  return { columns: ['?'], column };
};

/** A row whose columns have other names, in their order. */
export const renamed = (row: Row, columns: readonly string[]): Row => ({
  columns,
  column: (name) => row.column(row.columns[columns.indexOf(name)] ?? ''),
});
