import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** The purposes of tokens. By the prefix, a person or a secret scanner recognizes a leaked one. */
export type TokenKind = keyof typeof prefixes;

const prefixes = { access: 'gqs_at_', refresh: 'gqs_rt_', code: 'gqs_ac_' } as const;

/** A new opaque token: prefix, 256 random bits in base64url, CRC-32; 56 characters of `b64token`. */
export function createToken(kind: TokenKind, bits = randomBytes(32)): string {
  const unchecked = prefixes[kind] + bits.toString('base64url');
  return unchecked + checksum(unchecked);
}

/** Whether the text could be a token of this kind; a mistyped token is refused without a query. */
export function isToken(kind: TokenKind, text: string): boolean {
  if (text.length !== tokenLength || !text.startsWith(prefixes[kind])) return false;
  return text.slice(-checksumLength) === checksum(text.slice(0, -checksumLength));
}

/** SHA-256, the only stored form of a token, code or client secret; unsalted, as these are random. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** 4 bytes and 32 bytes in base64url. */
const checksumLength = 6;
const tokenLength = prefixes.access.length + 43 + checksumLength;

function checksum(text: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(text));
  return bytes.toString('base64url');
}
