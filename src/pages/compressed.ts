import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import { chooseEncoding, type Encoding } from '../http/compression.ts';

/** Answers each request with the same bytes. */
export type Compressed = (request: Request, response: Response) => Promise<void>;

/**
 * Sends a constant body: compressed once for each encoding, at the first request, and then kept.
 *
 * @param type a media type, or the extension of a file
 */
export function compressed(type: string, load: () => Promise<Buffer>): Compressed {
  const bodies = new Map<Encoding, Promise<Buffer>>();
  const bodyIn = (encoding: Encoding) => {
    const body = bodies.get(encoding) ?? load().then(encoders[encoding]);
    bodies.set(encoding, body);
    // A file that cannot be read now may be readable later.
    body.catch(() => bodies.delete(encoding));
    return body;
  };

  return async (request, response) => {
    response.vary('Accept-Encoding').type(type);
    const encoding = isText(response.get('Content-Type') ?? '') ? chooseEncoding(request) : 'identity';
    const body = await bodyIn(encoding);
    if (encoding !== 'identity') response.set('Content-Encoding', encoding);
    response.send(body);
  };
}

// Brotli's quality 5 takes a seventh of the time of 9, and is within five per cent of it.
const encoders: Record<Encoding, (body: Buffer) => Promise<Buffer>> = {
  identity: async (body) => body,
  gzip: (body) => promisify(gzip)(body, { level: 9 }),
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
};

const isText = (type: string) => /^(text\/|application\/(json|wasm)|image\/svg)/.test(type);
