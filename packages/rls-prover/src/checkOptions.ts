import type { Options } from './interface.ts';
import { predicateOf } from './invariants.ts';
import { referencesIn } from './names.ts';
import { QuestionError } from './QuestionError.ts';
import type { Given } from './questions.ts';

/**
 * Checks that each name of the question means something: roles, relations, columns and claims.
 * An invariant that matches nothing is proven of nothing.
 *
 * @throws {QuestionError} with everything that matches nothing
 */
export function checkOptions({ roles, claims, examples }: Options, { catalogue, parser, invariants }: Given): void {
  const problems: string[] = [];
  const known = new Set(['role', ...claims.map(({ name }) => name)]);
  const relations = [...catalogue.relations.values()];
  for (const role of new Set([...roles, ...invariants.flatMap((one) => one.roles)]))
    if (!catalogue.roles.has(role)) problems.push(`the role ${role} does not exist`);
  for (const { name, relation, columns, expression } of invariants) {
    const of = `the invariant ${name}${relation === '*' ? '' : ` of ${relation}`}`;
    const places = relations.filter((one) => relation === '*' || one.name === relation);
    if (places.length === 0) problems.push(`${of} matches no table or view`);
    const [predicate, table = ''] = predicateOf(parser.expression(expression));
    if (predicate === 'only_through' && !catalogue.relations.has(table))
      problems.push(`${of} has the table ${table}, which does not exist`);
    const has = (column: string) => places.some((one) => one.columns.some((found) => found.name === column));
    const named = referencesIn(parser.expression(expression));
    const missing = [...columns, ...named.filter(({ row }) => row !== 'claims').map(({ column }) => column)].filter(
      (column) => !has(column),
    );
    if (places.length > 0)
      for (const column of new Set(missing)) problems.push(`${of} has the column ${column}, which no such table has`);
    for (const { row, column } of named)
      if (row === 'claims' && !known.has(column))
        problems.push(`${of} has the claim ${column}, which is none of the claims`);
  }
  for (const { name, claims: held } of examples?.principals ?? [])
    for (const claim of Object.keys(held))
      if (!known.has(claim)) problems.push(`the principal ${name} has the claim ${claim}, which is none of the claims`);
  if (problems.length > 0) throw new QuestionError(`The question matches nothing: ${problems.join('; ')}.`);
}
