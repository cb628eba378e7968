import { hash, timingSafeEqual } from 'node:crypto';
import { toBase64url } from './NodeIdPlugin.ts';
import { refusal } from './refusal.ts';

/** A row of feed.changes, as its organization's applications see it. */
export type FeedChange = FeedPosition & Omit<FeedRow, 'id'>;

/** The row as JSON. */
export type FeedRow = {
  readonly horizon: string;
  readonly id: number;
  readonly at: string;
  readonly relation: string;
  readonly type: string | null;
  readonly key: readonly string[];
  readonly operation: string;
  readonly columns: readonly string[];
  /** The columns by which the row refers to others. */
  readonly related: Readonly<Record<string, string | null>> | null;
};

/** Changes that are certain, and the position behind the last one that was looked at; whether nothing is behind that. */
type FeedPage = {
  readonly changes: readonly FeedChange[];
  readonly end: FeedPosition;
  readonly isWhole: boolean;
};

/** The claims of one token, under which a page is read. */
export type FeedReader = Pick<Grafast.Context, 'organizationId' | 'pgSettings' | 'withPgClient'>;

/**
 * The position that a client goes on from; null for the beginning.
 *
 * @throws `BAD_USER_INPUT` when it is no cursor of the organization's feed, `CURSOR_EXPIRED` when an earlier version issued it
 */
export function startOf(
  { organizationId, cursorChecksums }: Pick<FeedReader, 'organizationId'> & Pick<CursorKeys, 'cursorChecksums'>,
  after: string | null | undefined,
): FeedPosition | null {
  if (after == null) return null;
  const position = decodePosition(after, { cursorChecksums });
  if (position?.organizationId !== organizationId)
    throw refusal('BAD_USER_INPUT', 'after: not a cursor of this feed.', { argument: 'after' });
  if (position.isUnkeyed)
    throw refusal(
      'CURSOR_EXPIRED',
      'This cursor was issued by an earlier version of the service; read everything and begin anew.',
      { argument: 'after' },
    );
  return position;
}

/**
 * Reads the next changes after a position, at most `count`.
 *
 * @param wanted selects rows of these types alone; the page then scans at most {@link maxScanned} changes
 * @throws `CURSOR_EXPIRED` when the position is older than what is kept, or was issued before the database was restored
 */
export async function readFeed(
  graph: FeedReader,
  after: FeedPosition | null,
  count: number,
  wanted: readonly Pick<FeedRow, 'relation' | 'type'>[] | null = null,
): Promise<FeedPage> {
  const { horizon, id } = after ?? beginning;
  const statement = wanted
    ? {
        text: changesOfTypes,
        values: [horizon, id, count, wanted.map(({ relation }) => relation), wanted.map(({ type }) => type)],
      }
    : { text: changesAfter, values: [horizon, id, count] };
  const { changes, scanned, ...feed } = await readPage(graph, after, statement);
  // Without a change the position is the same, and is as current as one given now.
  const end = { ...feed, horizon, id };
  if (!wanted) return { changes, end: changes.at(-1) ?? end, isWhole: changes.length < count };
  const last = changes.length === count ? changes.at(-1) : scanned;
  return { changes, end: last ?? end, isWhole: changes.length < count && (scanned?.count ?? 0) < maxScanned };
}

/** The position behind all that is certain. */
export async function readEnd(graph: FeedReader): Promise<FeedPosition> {
  const { changes, scanned: _, ...feed } = await readPage(graph, null, { text: lastChange, values: [] });
  const { horizon, id } = changes[0] ?? beginning;
  return { ...feed, horizon, id };
}

async function readPage(graph: FeedReader, after: FeedPosition | null, statement: { text: string; values: unknown[] }) {
  const { organizationId } = graph;
  const { rows } = await graph.withPgClient(graph.pgSettings, (client) => client.query<Row>(statement));
  const [row] = rows;
  if (!row) throw new Error('feed.position has no row');
  const { origin, atMs } = row;
  // A replica that lags behind may not have seen the cursor's transaction yet.
  const isAhead = after !== null && !row.isReplica && BigInt(after.horizon) >= BigInt(row.horizon);
  if (after && (after.origin !== origin || after.atMs < row.oldestMs || isAhead))
    throw refusal('CURSOR_EXPIRED', 'This cursor is older than what is kept; read everything and begin anew.', {
      argument: 'after',
    });
  const feed = { origin, organizationId };
  const changes = (row.changes ?? []).map((change) => toChange(change, feed));
  const scanned = row.scanned
    ? { ...row.scanned, ...feed, atMs: Date.parse(row.scanned.at), id: String(row.scanned.id) }
    : null;
  return { ...feed, atMs, changes, scanned };
}

export const toChange = (row: FeedRow, feed: Pick<FeedPosition, 'origin' | 'organizationId'>): FeedChange => ({
  ...row,
  ...feed,
  atMs: Date.parse(row.at),
  id: String(row.id),
});

const beginning = { horizon: '0', id: '0' };

/** How many changes a page of some types looks at: the rest is for the next page, so that each is a short statement. */
const maxScanned = 5000;

/** The present, and changes as JSON. */
type Row = {
  readonly origin: string;
  readonly horizon: string;
  readonly atMs: number;
  readonly oldestMs: number;
  readonly isReplica: boolean;
  readonly changes: readonly FeedRow[] | null;
  /** The last change that was looked at, and how many they were, if only some types are wanted. */
  readonly scanned?: (Pick<FeedRow, 'horizon' | 'id' | 'at'> & { readonly count: number }) | null;
};

const withPosition = (changes: string) => `
  select
    p.origin, p.horizon, floor(extract(epoch from p.at) * 1000)::float8 as "atMs",
    floor(extract(epoch from p.oldest) * 1000)::float8 as "oldestMs", pg_is_in_recovery() as "isReplica",
    (select json_agg(c) from ${changes} as c) as changes
  from feed.position() as p`;
const changesAfter = withPosition('feed.changes_after($1, $2, $3)');
const lastChange = withPosition('feed.last_change()');
const changesOfTypes = `
  with scanned as materialized (
    select * from feed.changes_after($1, $2, ${maxScanned}))
  ${withPosition(`(
    select s.* from scanned s
    where exists (
      select from unnest($4::text[], $5::text[]) as wanted (relation, type)
      where wanted.relation = s.relation and wanted.type is not distinct from s.type)
    order by s.horizon, s.id
    limit $3)`).replace(
    '    (select json_agg',
    `    (select json_build_object('horizon', s.horizon, 'id', s.id, 'at', s.at, 'count', (select count(*) from scanned))
     from scanned s order by s.horizon desc, s.id desc limit 1) as scanned,
    (select json_agg`,
  )}`;

/** Position in an organization's change feed: behind the change `id` of `horizon`. */
export type FeedPosition = {
  /** Identifies the cluster and the table, so that a restored database has other cursors. */
  readonly origin: string;
  readonly organizationId: string;
  /** The time of the position, in milliseconds of Unix time. */
  readonly atMs: number;
  readonly horizon: string;
  readonly id: string;
};

/** Keyed checksums: the one of new cursors, and all that a cursor may have. */
export type CursorKeys = Pick<Grafast.Context, 'cursorChecksum' | 'cursorChecksums'>;

/**
 * Opaque cursor of the change feed: base64url of its parts and a message authentication code (HMAC).
 * Without a key a client could make a position that the feed never had, for which the streams of its organization asked without end.
 */
export function encodePosition(
  { origin, organizationId, atMs, horizon, id }: FeedPosition,
  { cursorChecksum }: Pick<CursorKeys, 'cursorChecksum'>,
): string {
  const parts = `${origin}.${organizationId}.${atMs.toString(36)}.${horizon}.${id}`;
  return toBase64url(`${parts}.${cursorChecksum(parts)}`);
}

/**
 * The position of a cursor; null when the service cannot have issued it.
 * A cursor is unkeyed if an earlier version issued it: its checksum has no key.
 */
export function decodePosition(
  cursor: unknown,
  { cursorChecksums }: Pick<CursorKeys, 'cursorChecksums'>,
): (FeedPosition & { readonly isUnkeyed: boolean }) | null {
  if (typeof cursor !== 'string' || cursor.length > maxLength) return null;
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, parts = '', origin = '', organizationId = '', at = '', horizon = '', id = '', sum = ''] =
    /^((-?\d{1,19})\.([\da-f-]{36})\.([\da-z]{1,9})\.(\d{1,18})\.(\d{1,18}))\.([\w-]+)$/.exec(text) ?? [];
  if (parts === '' || Buffer.from(text).toString('base64url') !== cursor) return null;
  const isUnkeyed = sum === unkeyedChecksumOf(parts);
  if (!isUnkeyed && !cursorChecksums(parts).some((checksum) => isSame(checksum, sum))) return null;
  return { origin, organizationId, atMs: Number.parseInt(at, 36), horizon, id, isUnkeyed };
}

const maxLength = 250;

const unkeyedChecksumOf = (parts: string) => hash('sha256', parts, 'base64url').slice(0, 11);

const isSame = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
