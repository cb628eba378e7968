import { decodePosition, type FeedPosition } from './changeCursor.ts';
import { refusal } from './refusal.ts';

/** A row of graph.changes, as its organization's applications see it. */
export type FeedChange = FeedPosition & Omit<FeedRow, 'id'>;

/** As JSON. */
export type FeedRow = {
  readonly horizon: string;
  readonly id: number;
  readonly at: string;
  readonly relation: string;
  readonly type: string | null;
  readonly key: readonly string[];
  readonly operation: string;
  readonly columns: readonly string[];
};

/** Changes that are certain, and the position behind the last of them. */
export type FeedPage = { readonly changes: readonly FeedChange[]; readonly end: FeedPosition };

/** What a page is read with: the claims of one token. */
export type FeedReader = Pick<Grafast.Context, 'organizationId' | 'pgSettings' | 'withPgClient'>;

/**
 * The position that a client goes on from; null for the beginning.
 *
 * @throws `BAD_USER_INPUT` when it is no cursor of the organization's feed
 */
export function startOf({ organizationId }: FeedReader, after: string | null | undefined): FeedPosition | null {
  if (after == null) return null;
  const position = decodePosition(after);
  if (position?.organizationId === organizationId) return position;
  throw refusal('BAD_USER_INPUT', 'after: not a cursor of this feed.', { argument: 'after' });
}

/**
 * Reads the next changes after a position, at most `count`.
 *
 * @throws `CURSOR_EXPIRED` when the position is older than what is kept, or of a database before it was restored
 */
export async function readFeed(graph: FeedReader, after: FeedPosition | null, count: number): Promise<FeedPage> {
  const { horizon, id } = after ?? beginning;
  const { rows, ...feed } = await readPage<FeedColumns>(graph, after, changesAfter, [horizon, id, count]);
  const changes = rows.map((row) => toChange(toFeedRow(row), feed));
  const last = changes.at(-1);
  // Without a change the position is the same, and as good as if it had been given now.
  return { changes, end: last ?? { ...feed, horizon, id } };
}

/** The position behind all that is certain. */
export async function readEnd(graph: FeedReader): Promise<FeedPosition> {
  const { rows, ...feed } = await readPage<[horizon: string, id: number]>(graph, null, lastChange, []);
  const [horizon, id] = rows[0] ?? [beginning.horizon, beginning.id];
  return { ...feed, horizon, id: String(id) };
}

async function readPage<Columns>(graph: FeedReader, after: FeedPosition | null, text: string, values: unknown[]) {
  const { organizationId } = graph;
  const { rows } = await graph.withPgClient(graph.pgSettings, (client) =>
    client.query<Page<Columns>>({ text, values }),
  );
  const [page] = rows;
  if (!page) throw new Error('graph.position has no row');
  const { origin, atMs } = page;
  // A replica that lags behind may not have seen the cursor's transaction yet.
  const isAhead = after !== null && !page.isReplica && BigInt(after.horizon) >= BigInt(page.horizon);
  if (after && (after.origin !== origin || after.atMs < page.oldestMs || isAhead))
    throw refusal('CURSOR_EXPIRED', 'This cursor is older than what is kept; read everything and begin anew.', {
      argument: 'after',
    });
  return { origin, organizationId, atMs, rows: page.rows ?? [] };
}

export const toChange = (row: FeedRow, feed: Pick<FeedPosition, 'origin' | 'organizationId'>): FeedChange => ({
  ...row,
  origin: feed.origin,
  organizationId: feed.organizationId,
  atMs: Date.parse(row.at),
  id: String(row.id),
});

const beginning = { horizon: '0', id: '0' };

/**
 * The present, and rows of the feed as arrays.
 * With the names of their columns their text would be half as long again.
 */
type Page<Columns> = {
  readonly origin: string;
  readonly horizon: string;
  readonly atMs: number;
  readonly oldestMs: number;
  readonly isReplica: boolean;
  readonly rows: readonly Columns[] | null;
};

type FeedColumns = readonly [
  horizon: string,
  id: number,
  at: string,
  relation: string,
  type: string | null,
  key: readonly string[],
  operation: string,
  columns: readonly string[],
];

const toFeedRow = ([horizon, id, at, relation, type, key, operation, columns]: FeedColumns): FeedRow => ({
  horizon,
  id,
  at,
  relation,
  type,
  key,
  operation,
  columns,
});

const withPosition = (columns: string, changes: string) => `
  select
    p.origin, p.horizon, floor(extract(epoch from p.at) * 1000)::float8 as "atMs",
    floor(extract(epoch from p.oldest) * 1000)::float8 as "oldestMs", pg_is_in_recovery() as "isReplica",
    (select json_agg(json_build_array(${columns})) from ${changes} as c) as rows
  from graph.position() as p`;
const changesAfter = withPosition(
  'c.horizon, c.id, c.at, c.relation, c.type, c.key, c.operation, c.columns',
  'graph.changes_after($1, $2, $3)',
);
const lastChange = withPosition('c.horizon, c.id', 'graph.last_change()');
