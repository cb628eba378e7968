import { hash, timingSafeEqual } from 'node:crypto';
import { toBase64url } from './base64url.ts';

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
