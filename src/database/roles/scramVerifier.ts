import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

/**
 * PostgreSQL's stored form of a password (RFC 5803): statements, which may be logged, never have the password itself.
 * PostgreSQL and its clients prepare a password before they hash it.
 */
export function scramVerifier(password: string): string {
  const iterations = 4096;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(saslprep(password), salt, iterations, 32, 'sha256');
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${hmac('Server Key').toString('base64')}`;
}

/** SASLprep (RFC 4013 section 2.1 and 2.2) as far as it changes a password: spaces, what is mapped to nothing, NFKC. */
const saslprep = (password: string): string =>
  password.replace(spaces, ' ').replace(mappedToNothing, '').normalize('NFKC');

/** RFC 3454, table B.1. */
const mappedToNothing = /\u00AD|\u034F|\u1806|[\u180B-\u180D]|[\u200C\u200D]|\u2060|[\uFE00-\uFE0F]|\uFEFF/gu;
/** RFC 3454, table C.1.2. */
const spaces = /[\u00A0\u1680\u2000-\u200B\u202F\u205F\u3000]/gu;
