import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import express, { type Request, type Response } from 'express';

/**
 * Reads bodies by express' parser, whose errors have the status of the client's mistake.
 * A body is too large (413) as soon as its Content-Length says so, or that many bytes have come. Its client need not send the rest.
 */
export function createBodyReader(limit: number, options: Parameters<typeof express.raw>[0] = {}) {
  const read = express.raw({ ...options, type: () => true, limit });
  return (request: IncomingMessage & { body?: unknown }, response: ServerResponse): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      const refuseTooLarge = () => {
        if (!response.headersSent) response.setHeader('Connection', 'close');
        reject(Object.assign(new Error('The body is too large.'), { status: 413 }));
      };
      if (Number(request.headers['content-length']) > limit) return refuseTooLarge();
      if (request.headers.expect && request.httpVersion === '1.1') response.writeContinue();
      read(request as Request, response as Response, (error?: unknown) => {
        if (error) return reject(error);
        resolve(request.body instanceof Buffer ? request.body : Buffer.alloc(0));
        chunks.forEach(free);
      });
      const chunks: Buffer[] = [];
      let received = 0;
      request.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        received += chunk.length;
        if (received > limit) refuseTooLarge();
      });
    });
}

/** Frees the memory of a buffer that nothing reads any more: V8 counts little for it, and would collect tens of megabytes late. */
export function free({ buffer, length }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
}

/** Whether the content type is `application/json`, in UTF-8. */
export function isJson({ 'content-type': type = '' }: IncomingHttpHeaders): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(type)?.[1];
  return /^\s*application\/json\s*(;|$)/i.test(type) && (charset === undefined || /^utf-?8$/i.test(charset));
}

/** Null when the bytes are not UTF-8: replaced characters could make two texts equal. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** The estimated time of the thread in milliseconds, and the kind that exceeds its bound, as words for the client. */
export type JsonWeight = { readonly costMs: number; readonly excess: string | null; readonly members: number };

/**
 * Weighs JSON before it is parsed: counts its lists and objects, the members of objects, and the values that commas separate.
 * A member is the dearest, since V8 makes a shape for each name that it has not seen. The characters of a string do not count.
 */
export function weighJson(bytes: Uint8Array): JsonWeight {
  const counts = { structures: 0, members: 0, values: 1 };
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) at = endOfString(bytes, at + 1);
    else if (byte === comma) counts.values += 1;
    else if (byte === colon) counts.members += 1;
    else if (byte === openBrace || byte === openBracket) counts.structures += 1;
  }
  const kinds = Object.keys(bounds) as (keyof typeof bounds)[];
  const exceeded = kinds.find((kind) => counts[kind] > bounds[kind].max);
  const excess = exceeded ? `more than ${bounds[exceeded].max.toLocaleString('en')} ${bounds[exceeded].what}` : null;
  const costMs = kinds.reduce((sum, kind) => sum + bounds[kind].costMs * counts[kind], msOfByte * bytes.length);
  return { costMs, excess, members: counts.members };
}

/** The bounds of a body of JSON beside its bytes, and what parsing and checking one of a kind costs at most. */
const bounds = {
  structures: { what: 'lists and objects', max: 100_000, costMs: 2e-4 },
  members: { what: 'members of objects', max: 20_000, costMs: 1e-3 },
  values: { what: 'values', max: 150_000, costMs: 2e-4 },
} as const;
const msOfByte = 4e-6;

/** The position of a string's closing quote. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start;
  for (; at < bytes.length && bytes[at] !== quote; at += 1) if (bytes[at] === backslash) at += 1;
  return at;
}

const [quote, comma, colon, backslash, openBrace, openBracket] = Buffer.from('",:\\{[');

/** Aborts when the client closes the connection before it has its answer. */
export function untilClosed(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.on('close', () => {
    if (!response.writableEnded) controller.abort();
  });
  return controller.signal;
}
