import { type OwnGraphTest, read } from '../graphql/support.ts';

export type Node = Readonly<Record<string, unknown>>;

type Page = {
  readonly nodes: readonly Node[];
  readonly pageInfo: { readonly at: string | null; readonly hasMore: boolean };
};

const forwards = { size: 'first', cursor: 'after', edge: 'endCursor', more: 'hasNextPage' };
const backwards = { size: 'last', cursor: 'before', edge: 'startCursor', more: 'hasPreviousPage' };

/**
 * Follows the cursors of a connection of `app` to its end.
 *
 * @param rows on a page
 * @param selection of each node
 * @returns the rows in the order of the connection, whichever way it was walked
 */
export async function walk(
  graph: OwnGraphTest,
  token: string,
  {
    field,
    order,
    isBackwards = false,
    rows = 2,
  }: { field: string; order?: string; isBackwards?: boolean; rows?: number },
  selection = 'id',
): Promise<Node[]> {
  const { size, cursor, edge, more } = isBackwards ? backwards : forwards;
  const orderBy = order === undefined ? '' : `, orderBy: [${order}]`;
  // By variables, since each document is planned anew.
  const query = `query ($at: Cursor, $rows: Int) { app { page: ${field}(${size}: $rows, ${cursor}: $at${orderBy}) {
    nodes { ${selection} } pageInfo { at: ${edge} hasMore: ${more} } } } }`;

  const pages: (readonly Node[])[] = [];
  for (let at: string | null = null, hasMore = true; hasMore && pages.length < 50; ) {
    const answer: { app: { page: Page } } = await read(graph, token, query, { at, rows });
    pages.push(answer.app.page.nodes);
    ({ at, hasMore } = answer.app.page.pageInfo);
  }
  return (isBackwards ? pages.reverse() : pages).flat();
}
