import { hash } from 'node:crypto';
import { decodePosition, encodePosition, type FeedPosition } from '../../../plugins/changeFeed.ts';
import type { Secrets } from '../../../src/crypto/secrets.ts';
import { until } from '../../support/until.ts';
import type { Mutate } from '../mutating.ts';
import { type GraphTest, read, secrets, type Tenant } from '../support.ts';

export type Change = {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly typeName: string;
  readonly id: string;
  readonly fields: readonly string[];
  readonly relatedIds: readonly string[];
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

type Where = {
  readonly after?: string | null | undefined;
  readonly first?: number | null;
  readonly typeNames?: readonly string[] | null;
};

export const pageQuery = `query ($after: Cursor, $first: Int, $typeNames: [FollowedType!]) {
  app { changes(after: $after, first: $first, typeNames: $typeNames) {
  nodes { operation typeName id fields relatedIds node { __typename id } cursor at }
  edges { cursor node { id } }
  pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`;

export async function readPage(
  graph: Pick<GraphTest, 'url'>,
  { app }: Pick<Tenant, 'app'>,
  where: Where = {},
): Promise<Page> {
  const data = await read<{ app: { changes: Page } }>(graph, app, pageQuery, where);
  return data.app.changes;
}

/** Units by mutations, one after the other. */
export async function createUnits(mutate: Mutate, count: number, name = 'Unit'): Promise<void> {
  for (let number = 0; number < count; number++)
    await mutate('unitCreate', { name: `${name} ${number}` }, 'unit { id }');
}

/** Resolves when all that the organization has written is certain: other tests have transactions in the same cluster. */
export async function settled({ owner, organizationId }: Pick<Tenant, 'owner' | 'organizationId'>): Promise<void> {
  const uncertain = `select from feed.changes
    where organization_id = $1 and horizon >= pg_snapshot_xmin(pg_current_snapshot()) limit 1`;
  await until(async () => (await owner.query(uncertain, [organizationId])).rowCount === 0);
}

/** The end of all that was written. */
export async function present(graph: Pick<GraphTest, 'url'>, tenant: Tenant): Promise<string> {
  await settled(tenant);
  return (await readPage(graph, tenant, { first: 0 })).pageInfo.endCursor;
}

/** The changes from a cursor to the end of the feed, as `CREATE User`: the operation, type and fields, without ids. */
export async function changesInShort(
  graph: Pick<GraphTest, 'url'>,
  tenant: Tenant,
  after: string | null = null,
): Promise<string[]> {
  return (await follow(graph, tenant, after)).map(inShort);
}

export const inShort = ({ operation, typeName, fields }: Change): string => [operation, typeName, ...fields].join(' ');

/** All changes after a cursor, page after page, as soon as they are certain. */
export async function follow(
  graph: Pick<GraphTest, 'url'>,
  tenant: Tenant,
  after: string | null | undefined = null,
  first = 1000,
): Promise<Change[]> {
  await settled(tenant);
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
export const altered = (cursor: string, change: (position: FeedPosition) => Partial<FeedPosition>): string =>
  rekeyed(cursor, secrets, change);

/** The cursor as a service with another key issues it. */
export function rekeyed(
  cursor: string,
  keys: Pick<Secrets, 'cursorChecksum'>,
  change: (position: FeedPosition) => Partial<FeedPosition> = () => ({}),
): string {
  const position = decodePosition(cursor, secrets);
  if (!position) throw new Error(`${cursor} is no cursor of the feed`);
  return encodePosition({ ...position, ...change(position) }, keys);
}

/** The cursor as versions before the key issued it. */
export const unkeyed = (cursor: string): string =>
  rekeyed(cursor, { cursorChecksum: (parts) => hash('sha256', parts, 'base64url').slice(0, 11) });
