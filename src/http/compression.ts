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
 * Compresses answers in libuv's thread pool, off the event loop, at the fastest level.
 * Beyond `maxBytes` it resolves to null at once, and the answer is sent uncompressed. So memory is bounded, and the pool's other work, such
 * as hashing passwords, waits no longer than these bytes take (0.1 s).
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
      // There is not enough memory.
      return null;
    } finally {
      bytes -= size;
    }
  };
}

/** A body in its encoding. */
export type Encoded = { readonly encoding: Encoding; readonly content: string | Uint8Array };

/**
 * Encodes bodies: a long one in the content coding that the client asks for.
 *
 * @param accepted called only for a long body
 */
export function createEncoder() {
  const compress = createCompressor();
  return async (body: string, accepted: () => Encoding): Promise<Encoded> => {
    // Node.js would copy a long text twice: behind the headers, and into bytes.
    const content = body.length > longText ? Buffer.from(body) : body;
    const encoding = Buffer.byteLength(content) > maxUncompressed ? accepted() : 'identity';
    const compressed = encoding === 'identity' ? null : await compress(encoding, content);
    return compressed ? { encoding, content: compressed } : { encoding: 'identity', content };
  };
}

/** In characters; Node.js writes a shorter text from its stack. */
const longText = 16_384;

/** A body of more bytes is compressed for clients that ask for it. */
const maxUncompressed = 1000;

const encoders = {
  gzip: (content: string | Buffer) => promisify(gzip)(content, { level: constants.Z_BEST_SPEED }),
  br: (content: string | Buffer) => promisify(brotliCompress)(content, brotliOptions),
};

const windowBits = 18;
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: windowBits } };

/** An encoder's memory beside its input: for gzip as much as for brotli with this window. */
const bytesOfState = 2 ** windowBits;
