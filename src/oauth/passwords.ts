import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { createFairQueue } from 'fair-queue';
import { withoutPermit } from '../scheduling/caller.ts';
import { systemClock } from '../scheduling/clock.ts';
import { refusedAs } from '../scheduling/refusedAs.ts';
import { temporarilyUnavailable } from './errors.ts';

/** The cost of one argon2id hash (RFC 9106 section 3.1): memory in KiB, and passes over it. */
export type PasswordCost = { readonly memoryKib: number; readonly passes: number };

export type Passwords = ReturnType<typeof createPasswords>;

/** The path of its flow. */
export type SignInPath = readonly [organizationId: string, network: string];

/** The outcome, and a new hash if the stored one has outdated parameters. */
export type Verification = { readonly matches: boolean; readonly renewedHash: string | null };

/** Password hashing with argon2id at the configured cost; other hashes are renewed at a sign-in. */
export function createPasswords({ memoryKib, passes }: PasswordCost) {
  const parameters = { memoryCost: memoryKib, timeCost: passes, parallelism: lanes };
  /** How every hash with these parameters begins. */
  const prefix = `$argon2id$v=19$m=${memoryKib},t=${passes},p=${lanes}$`;
  /** The hash of no password: random bytes in place of salt and hash. */
  const hashOfNothing = `${prefix}${unpadded(randomBytes(16))}$${unpadded(randomBytes(32))}`;
  /**
   * One at a time: a hash takes 64 MB, and its lanes up to four cores. On two cores, two at a time gave 15 % more. By default the last one
   * waits about 3 s.
   */
  const queue = createFairQueue({ slots: 1, maxWaiting: 32 }, systemClock);
  const costMs = (msOfMebibytePass * memoryKib * passes) / 1024;

  const hashOf = (password: string) => hash(normalize(password), parameters);
  return {
    /** The argon2id hash to keep of a password. */
    hash: hashOf,
    /**
     * Whether the password is the hashed one.
     * Without a hash it takes the same time and does not match, so that the time does not show whether the user exists. Organizations have
     * fair shares, and so have the addresses within one.
     *
     * @throws {OAuthError} temporarily_unavailable when too many are waiting already
     */
    verify(passwordHash: string | null, password: string, path: SignInPath): Promise<Verification> {
      const compare = async () => {
        const matches = await verify(passwordHash ?? hashOfNothing, normalize(password));
        if (!matches || passwordHash === null) return { matches: false, renewedHash: null };
        return { matches, renewedHash: passwordHash.startsWith(prefix) ? null : await hashOf(password) };
      };
      return withoutPermit(() => queue.run({ path, costMs }, compare)).catch(refusedAs(busy));
    },
    /** Refuses as `verify` does, before any other work for a sign-in. */
    refuseIfBusy(path: SignInPath): void {
      if (queue.isFull(path)) throw busy();
    },
  };
}

const busy = () => temporarilyUnavailable('too many passwords wait to be verified');

/** How long argon2 takes for one pass over a mebibyte: 0.9 ms at the default cost, measured on two cores. */
const msOfMebibytePass = 0.9;

/** Degree of parallelism in RFC 9106's second recommendation. */
const lanes = 4;

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}

/** The same password, however a keyboard composes its letters (RFC 8265 section 4.2.1). */
const normalize = (password: string) => password.normalize('NFC');
