import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { stepAside } from '../http/aside.ts';
import { createLimiter } from '../limiter.ts';
import { temporarilyUnavailable } from './errors.ts';

/**
 * The argon2id hash to keep of a password, with the parameters of RFC 9106's second recommendation. Takes about 0.1 s
 * and 64 MiB.
 */
export function hashPassword(password: string): Promise<string> {
  return hash(normalize(password), parameters);
}

/**
 * Whether the password is the one that was hashed. Without a hash it takes the same time and does not match, so that the
 * time does not say whether there is such a user.
 *
 * @throws {OAuthError} temporarily_unavailable when too many are waiting already
 */
export function verifyPassword(passwordHash: string | null, password: string): Promise<Verification> {
  const compare = async () => {
    const matches = await verify(passwordHash ?? hashOfNothing, normalize(password));
    if (!matches || passwordHash === null) return { matches: false, renewedHash: null };
    return { matches, renewedHash: passwordHash.startsWith(presentPrefix) ? null : await hashPassword(password) };
  };
  return stepAside(() => limiter.run(compare));
}

/** What came of it, and a hash to keep instead of one whose parameters are out of date. */
export type Verification = { readonly matches: boolean; readonly renewedHash: string | null };

/**
 * Refuses before anything else is done for a sign-in whose password could not be verified now.
 *
 * @throws {OAuthError} temporarily_unavailable when too many are waiting already
 */
export function refuseIfBusy(): void {
  limiter.refuseIfFull();
}

const parameters = { memoryCost: 65_536, timeCost: 3, parallelism: 4 };

/** How every hash with these parameters begins. */
const presentPrefix = `$argon2id$v=19$m=${parameters.memoryCost},t=${parameters.timeCost},p=${parameters.parallelism}$`;

/** What nobody's password gives: random bytes in place of salt and hash. */
const hashOfNothing = `${presentPrefix}${unpadded(randomBytes(16))}$${unpadded(randomBytes(32))}`;

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}

/** Each takes 64 MiB and up to four cores. The last of those that wait has its turn after about 3 s. */
const limiter = createLimiter({ parallel: 2, waiting: 32, refusal: temporarilyUnavailable });

/** One password however a keyboard composes its letters (RFC 8265 section 4.2.1). */
const normalize = (password: string) => password.normalize('NFC');
