import { hash } from 'node:crypto';
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

/**
 * Opaque cursor of the change feed: base64url of its parts and a checksum.
 * The checksum distinguishes a client's mistake from an outdated cursor. A forged cursor is at worst another place in the caller's own
 * feed.
 */
export function encodePosition({ origin, organizationId, atMs, horizon, id }: FeedPosition): string {
  const parts = `${origin}.${organizationId}.${atMs.toString(36)}.${horizon}.${id}`;
  return toBase64url(`${parts}.${checksumOf(parts)}`);
}

/** Null when the service cannot have issued it. */
export function decodePosition(cursor: unknown): FeedPosition | null {
  if (typeof cursor !== 'string' || cursor.length > maxLength) return null;
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, parts = '', origin = '', organizationId = '', at = '', horizon = '', id = '', sum = ''] =
    /^((-?\d{1,19})\.([\da-f-]{36})\.([\da-z]{1,9})\.(\d{1,18})\.(\d{1,18}))\.([\w-]+)$/.exec(text) ?? [];
  if (sum !== checksumOf(parts) || Buffer.from(text).toString('base64url') !== cursor) return null;
  return { origin, organizationId, atMs: Number.parseInt(at, 36), horizon, id };
}

const maxLength = 250;

const checksumOf = (parts: string) => hash('sha256', parts, 'base64url').slice(0, 11);
