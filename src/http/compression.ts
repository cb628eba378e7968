import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import Negotiator from 'negotiator';
import { withoutPermit } from '../scheduling/caller.ts';

/** A content coding (RFC 9110 section 8.4.1). */
export type Encoding = keyof typeof encoders | 'identity';

/** Negotiates the content coding of an answer: without `Accept-Encoding`, none. */
export function chooseEncoding(request: IncomingMessage): Encoding {
  if (!request.headers['accept-encoding']) return 'identity';
  return (new Negotiator(request).encoding(['br', 'gzip', 'identity']) ?? 'identity') as Encoding;
}

/**
 * Compresses answers in libuv's thread pool, off the event loop, at the level that takes least time.
 * Resolves to null beyond `maxBytes` at once: the answer is then sent as it is, so that memory is bounded, and what else the pool does,
 * such as hashing passwords, waits no longer than these take (0.1 s).
 */
export function createCompressor(maxBytes = 16_000_000) {
  let bytes = 0;
  return async (encoding: Exclude<Encoding, 'identity'>, content: string | Buffer): Promise<Buffer | null> => {
    const size = content.length + bytesOfState;
    if (bytes + size > maxBytes) return null;
    bytes += size;
    try {
      return await withoutPermit(() => encoders[encoding](content));
    } catch {
      // There is no memory for it.
      return null;
    } finally {
      bytes -= size;
    }
  };
}

/** A body as it is sent. */
export type Encoded = { readonly encoding: Encoding; readonly content: string | Uint8Array };

/**
 * Encodes bodies: a long one in the content coding that the client asks for.
 *
 * @param accepted asked only for a body that is worth it
 */
export function createEncoder() {
  const compress = createCompressor();
  return async (body: string, accepted: () => Encoding): Promise<Encoded> => {
    // Node.js would copy a long text twice: behind the headers, and as bytes.
    const content = body.length > longText ? Buffer.from(body) : body;
    const encoding = Buffer.byteLength(content) > maxUncompressed ? accepted() : 'identity';
    const compressed = encoding === 'identity' ? null : await compress(encoding, content);
    return compressed ? { encoding, content: compressed } : { encoding: 'identity', content };
  };
}

/** In characters: shorter ones Node.js writes from its stack. */
const longText = 16_384;

/** A body of more bytes is compressed for clients that ask for it. */
const maxUncompressed = 1000;

const encoders = {
  gzip: (content: string | Buffer) => promisify(gzip)(content, { level: constants.Z_BEST_SPEED }),
  br: (content: string | Buffer) => promisify(brotliCompress)(content, brotliOptions),
};

const windowBits = 18;
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: windowBits } };

/** What an encoder takes beside its input: gzip as much as brotli with this window. */
const bytesOfState = 2 ** windowBits;
