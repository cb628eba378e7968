import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { PreparedDocument } from '../document/document.ts';
import { RequestError } from './request.ts';

/** The idempotency key of a mutation, and the hash by which a repeated request is recognized. */
export type IdempotencyKey = {
  readonly key: string;
  /** SHA-256 of the document, its operation and its variables. */
  readonly requestHash: string;
};

/**
 * Reads `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header, section 2.1); null without one.
 * The draft has a string in quotes, but most clients send the key without quotes. `"k"` and `k` are the same key, so that a library that
 * starts to quote it repeats no change. Requests are compared by meaning and not by bytes: a client may name a persisted operation by its
 * id the first time, and send its text the second.
 *
 * @throws {RequestError} the header is malformed, or there is more than one
 */
export function readIdempotencyKey(
  { headersDistinct }: IncomingMessage,
  { query, operation }: PreparedDocument,
  variables: Readonly<Record<string, unknown>>,
): IdempotencyKey | null {
  const [header, ...others] = headersDistinct['idempotency-key'] ?? [];
  if (header === undefined) return null;
  const key = /^"(?:[^"\\]|\\["\\])*"$/.test(header) ? header.slice(1, -1).replaceAll(/\\(.)/g, '$1') : header;
  if (others.length > 0 || !/^[!-~]{1,255}$/.test(key))
    throw new RequestError('Send one header Idempotency-Key, of 1 to 255 visible ASCII characters.');
  const declared = operation.variableDefinitions?.map(({ variable: { name } }) => [name.value, variables[name.value]]);
  const asked = [query, operation.name?.value, Object.fromEntries(declared ?? [])];
  return { key, requestHash: hash('sha256', JSON.stringify(asked)) };
}
