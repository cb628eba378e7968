import { decodePosition, encodePosition, type FeedPosition } from '../../../plugins/changeCursor.ts';
import { type GraphTest, read, type Tenant } from '../support.ts';

export type Change = {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly typeName: string;
  readonly id: string;
  readonly fields: readonly string[];
  readonly node: { readonly id: string; readonly __typename: string } | null;
  readonly cursor: string;
  readonly at: string;
};

export type Page = {
  readonly nodes: readonly Change[];
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly id: string } }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string;
  };
};

type Where = { readonly after?: string | null; readonly first?: number | null };

export const pageQuery = `query ($after: Cursor, $first: Int) { app { changes(after: $after, first: $first) {
  nodes { operation typeName id fields node { __typename id } cursor at }
  edges { cursor node { id } }
  pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`;

export async function readPage(graph: GraphTest, { app }: Pick<Tenant, 'app'>, where: Where = {}): Promise<Page> {
  const data = await read<{ app: { changes: Page } }>(graph, app, pageQuery, where);
  return data.app.changes;
}

/** The end of what is certain. */
export async function present(graph: GraphTest, tenant: Tenant): Promise<string> {
  return (await readPage(graph, tenant, { first: 0 })).pageInfo.endCursor;
}

/** What the feed has after a cursor, to its end, as `CREATE User`, without what tells the objects apart. */
export async function told(graph: GraphTest, tenant: Tenant, after: string | null = null): Promise<string[]> {
  return (await follow(graph, tenant, after)).map(inShort);
}

export const inShort = ({ operation, typeName, fields }: Change): string => [operation, typeName, ...fields].join(' ');

/** All changes after a cursor, page after page. */
export async function follow(
  graph: GraphTest,
  tenant: Pick<Tenant, 'app'>,
  after: string | null = null,
  first = 1000,
): Promise<Change[]> {
  const changes: Change[] = [];
  for (let cursor = after, hasNextPage = true; hasNextPage; ) {
    const page = await readPage(graph, tenant, { after: cursor, first });
    changes.push(...page.nodes);
    ({ hasNextPage } = page.pageInfo);
    cursor = page.pageInfo.endCursor;
  }
  return changes;
}

/** A cursor that the service could have issued at another time or place. */
export function altered(cursor: string, change: (position: FeedPosition) => Partial<FeedPosition>): string {
  const position = decodePosition(cursor);
  if (!position) throw new Error(`${cursor} is no cursor of the feed`);
  return encodePosition({ ...position, ...change(position) });
}
