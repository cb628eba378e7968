import type { Catalogue, Relation } from './catalogue.ts';
import { namesIn } from './names.ts';
import type { Parser, SelectStmt } from './parse.ts';

/** The views that a query reads. */
export const viewsOf = (query: SelectStmt, { paths }: Catalogue): Relation[] =>
  [...namesIn(query).relations].flatMap((path) => {
    const relation = paths.get(path);
    return relation?.kind === 'view' && relation.definition !== null ? [relation] : [];
  });

/** The queries of the views that a query reads, at any depth. */
export const queriesBelow = (query: SelectStmt, catalogue: Catalogue, parser: Parser): SelectStmt[] =>
  viewsOf(query, catalogue).flatMap(({ definition }) => {
    const inner = parser.query(definition ?? '');
    return [inner, ...queriesBelow(inner, catalogue, parser)];
  });

/** The one table of a view that commands pass on to. */
export function baseOf(
  { definition, isRewritten }: Relation,
  { parser, catalogue }: { parser: Parser; catalogue: Catalogue },
): Relation | undefined {
  const query = definition !== null && !isRewritten ? parser.query(definition) : undefined;
  const [item, ...others] = query?.fromClause ?? [];
  const [path = ''] = item && 'RangeVar' in item && others.length === 0 ? namesIn(item).relations : [];
  return catalogue.paths.get(path);
}

/**
 * Whether an error of what a client asks may show what a view leaves out.
 * Without `security_barrier`, PostgreSQL may ask a client's condition before the view's own. A view of its caller leaves out nothing that the caller
 * may not read anyway, unless it reads such a view.
 */
export function isLeaking(view: Relation, catalogue: Catalogue, parser: Parser): boolean {
  if (view.kind !== 'view' || view.definition === null || view.isBarrier) return false;
  const query = parser.query(view.definition);
  const { keys } = namesIn(query);
  const isFiltering = ['whereClause', 'JoinExpr', 'havingClause'].some((key) => keys.has(key));
  return (
    (isFiltering && !view.isInvoker) || viewsOf(query, catalogue).some((inner) => isLeaking(inner, catalogue, parser))
  );
}
