import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { createFairQueue } from 'fair-queue';
import type { Pool, PoolClient } from 'pg';
import { networkOf } from '../http/admission.ts';
import type { RequestId } from '../observability/requestFields.ts';
import { refusedAs, withoutPermit } from '../scheduling/caller.ts';
import { systemClock } from '../scheduling/clock.ts';
import { temporarilyUnavailable } from './errors.ts';
import { inOrganization } from './inOrganization.ts';
import type { Throttle } from './throttle.ts';

type SignIn = {
  readonly username: string;
  readonly password: string;
  /** Where the request came from: `request.ip`. */
  readonly address: string;
};

/**
 * The id of the person with this e-mail address and password in this organization.
 * Null when either is wrong, or the person is disabled or has no password. Null takes equally long for each reason, and only the log has
 * the reason.
 *
 * @throws {OAuthError} 429 after too many failures of the account, and temporarily_unavailable when too many sign in at once
 */
export type AuthenticateUser = (organizationId: string, requestId: RequestId, signIn: SignIn) => Promise<SignedIn>;

type SignedIn = { readonly userId: string } | { readonly userId: null; readonly reason: string };

/**
 * The one place that verifies passwords, for the token endpoint as for the sign-in page.
 * So failures at both count together against the account. The caller counts the failure of the address (`Throttle.countFailure`). If a
 * password is right and its hash has outdated parameters, the hash is renewed.
 */
export function createAuthenticateUser(pool: Pool, throttle: Throttle, passwords: Passwords): AuthenticateUser {
  return async (organizationId, requestId, { username, password, address }) => {
    const path = [organizationId, networkOf(address)] as const;
    passwords.refuseIfBusy(path);
    const user = await inOrganization(pool, organizationId, requestId, (database) =>
      findUser(database, 'email', username.trim()),
    );
    const account = user?.id ?? `${organizationId} ${username.trim().toLowerCase()}`;
    const userId = await throttle.tryAccount(account, address, async () => {
      // Every sign-in verifies a password before it is refused, or the time would show the reason.
      const passwordHash = user && !user.disabled ? user.password_hash : null;
      const { matches, renewedHash } = await passwords.verify(passwordHash, password, path);
      if (!matches || !user) return null;

      if (renewedHash !== null) {
        await inOrganization(pool, organizationId, requestId, (database) =>
          replaceHash(database, user.id, passwordHash, renewedHash),
        );
      }
      return user.id;
    });
    return userId === null ? { userId, reason: reasonOf(user) } : { userId };
  };
}

function reasonOf(user: UserRow | undefined): string {
  if (!user) return 'no user has this e-mail address';
  if (user.disabled) return 'the user is disabled';
  return user.password_hash === null ? 'the user has no password' : 'the password is wrong';
}

type UserRow = { id: string; password_hash: string | null; disabled: boolean };

/** How a user is identified in the organization of the transaction. */
const conditions = {
  email: 'u.email_lowercase = app_hidden.lowercase($1)',
  external_authentication_token: 'u.external_authentication_token_hash = any ($1)',
};

export async function findUser(database: PoolClient, by: keyof typeof conditions, value: unknown) {
  const { rows } = await database.query<UserRow>({
    name: `find_user_by_${by}`,
    text: `
      select u.id, c.password_hash, c.disabled_at is not null as disabled
      from app_public.users u
      left join oauth.credentials c on c.organization_id = u.organization_id and c.user_id = u.id
      where ${conditions[by]}`,
    values: [value],
  });
  return rows[0];
}

/** Compare-and-set: does nothing if another password was set meanwhile. */
async function replaceHash(database: PoolClient, userId: string, old: string | null, renewed: string): Promise<void> {
  await database.query({
    name: 'renew_password_hash',
    text: 'update oauth.credentials set password_hash = $3 where user_id = $1 and password_hash = $2',
    values: [userId, old, renewed],
  });
}

/** The cost of one argon2id hash (RFC 9106 section 3.1): memory in KiB, and passes over it. */
export type PasswordCost = { readonly memoryKib: number; readonly passes: number };

export type Passwords = ReturnType<typeof createPasswords>;

/** The path of its flow. */
type SignInPath = readonly [organizationId: string, network: string];

/** The outcome, and a new hash if the stored one has outdated parameters. */
type Verification = { readonly matches: boolean; readonly renewedHash: string | null };

/** Password hashing with argon2id at the configured cost; other hashes are renewed at a sign-in. */
export function createPasswords({ memoryKib, passes }: PasswordCost) {
  const parameters = { memoryCost: memoryKib, timeCost: passes, parallelism: lanes };
  /** How every hash with these parameters begins. */
  const prefix = `$argon2id$v=19$m=${memoryKib},t=${passes},p=${lanes}$`;
  /** The hash of no password: random bytes in place of salt and hash. */
  const hashOfNothing = `${prefix}${unpadded(randomBytes(16))}$${unpadded(randomBytes(32))}`;
  // One at a time: a hash takes much memory, and its lanes several cores.
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
