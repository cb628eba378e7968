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

const encoders = {
  gzip: (content: string | Buffer) => promisify(gzip)(content, { level: constants.Z_BEST_SPEED }),
  br: (content: string | Buffer) => promisify(brotliCompress)(content, brotliOptions),
};

const windowBits = 18;
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: windowBits } };

/** What an encoder takes beside its input: gzip as much as brotli with this window. */
const bytesOfState = 2 ** windowBits;
