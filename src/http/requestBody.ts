import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import express, { type Request, type Response } from 'express';

/** Reads bodies by express' parser, whose errors have the status of the client's mistake. */
export function createBodyReader(limit: number) {
  const read = express.raw({ type: () => true, limit });
  return (request: IncomingMessage & { body?: unknown }, response: ServerResponse): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      read(request as Request, response as Response, (error?: unknown) => {
        if (error) reject(error);
        else resolve(request.body instanceof Buffer ? request.body : Buffer.alloc(0));
      });
    });
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

/**
 * Whether JSON has more than 100,000 lists and objects. Brackets in strings count, too.
 * 1,000,000 bytes are parsed in 5 ms, but in 40 to 75 ms when they are 300,000 empty objects.
 */
export function hasManyStructures(bytes: Uint8Array): boolean {
  if (bytes.length <= maxStructures) return false;
  let count = 0;
  for (const byte of bytes) if ((byte === openBrace || byte === openBracket) && ++count > maxStructures) return true;
  return false;
}

const maxStructures = 100_000;
const openBrace = 0x7b;
const openBracket = 0x5b;

/** Aborts when the client closes the connection before it has its answer. */
export function untilClosed(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.on('close', () => {
    if (!response.writableEnded) controller.abort();
  });
  return controller.signal;
}
