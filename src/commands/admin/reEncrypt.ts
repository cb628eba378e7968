import type { Pool } from 'pg';
import { createSecrets, type Secrets } from '../../crypto/secrets.ts';
import { hasCode } from '../../errors/hasCode.ts';
import { StartupError } from '../../errors/startupError.ts';

/** The outcome, for users with an external authentication token. */
export type ReEncrypted = {
  /** Re-encrypted from SECRET_KEY_PREVIOUS to SECRET_KEY. */
  reEncrypted: number;
  /** Already under SECRET_KEY. */
  current: number;
  /**
   * Ids of users whose token opens under neither key, or is another user's: set or clear it by hand.
   * Also ids of webhooks whose secret must be rotated.
   */
  failed: string[];
};

/**
 * `admin re-encrypt`: seals every token of SECRET_KEY_PREVIOUS under SECRET_KEY.
 * These are external authentication tokens. The service runs with both keys meanwhile. It works in batches, and may be interrupted and
 * run again. If a token changes meanwhile, it is read again and not overwritten.
 *
 * @throws {StartupError} without SECRET_KEY_PREVIOUS
 */
export async function reEncrypt(owner: Pool, [current, previous]: readonly Buffer[]): Promise<ReEncrypted> {
  if (!current || !previous) throw new StartupError('Set SECRET_KEY_PREVIOUS to the key before SECRET_KEY.');
  const keys = { current: createSecrets([current]), previous: createSecrets([previous]) };
  const outcome: ReEncrypted = { reEncrypted: 0, current: 0, failed: [] };
  let users = await readAfter(owner, firstKey);
  for (let last = users.at(-1); last; last = users.at(-1)) {
    await moveAll(owner, users, keys, outcome);
    users = await readAfter(owner, last);
  }
  return outcome;
}

type Keys = { current: Secrets; previous: Secrets };

type User = { organizationId: string; id: string; ciphertext: Buffer };

type Move = { user: User; token: string };

async function moveAll(owner: Pool, users: readonly User[], keys: Keys, outcome: ReEncrypted): Promise<void> {
  for (let left = users; left.length > 0; ) {
    const moves: Move[] = [];
    for (const user of left) {
      const token = opens(keys.previous, user);
      if (token !== null) moves.push({ user, token });
      else if (opens(keys.current, user) !== null) outcome.current++;
      else outcome.failed.push(user.id);
    }
    const { moved, taken } = await move(owner, moves, keys.current);
    outcome.reEncrypted += moved.length;
    outcome.failed.push(...taken);
    const settled = new Set([...moved, ...taken]);
    left = await readAgain(
      owner,
      moves.map(({ user }) => user.id).filter((id) => !settled.has(id)),
    );
  }
}

function opens(secrets: Secrets, { organizationId, id, ciphertext }: User): string | null {
  try {
    return secrets.open(ciphertext, { organizationId, userId: id });
  } catch {
    return null;
  }
}

/** Compare-and-set: moves the tokens that have not changed meanwhile, and none that another user has. */
async function move(
  owner: Pool,
  moves: readonly Move[],
  secrets: Secrets,
): Promise<{ moved: string[]; taken: string[] }> {
  if (moves.length === 0) return { moved: [], taken: [] };
  try {
    const { rows } = await owner.query<{ id: string }>({
      name: 're_encrypt',
      text: `
        update app_public.users u
        set external_authentication_token_ciphertext = given.sealed, external_authentication_token_hash = given.hash
        from unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::bytea[], $5::bytea[])
          as given (organization_id, id, ciphertext, sealed, hash)
        where u.organization_id = given.organization_id and u.id = given.id
          and u.external_authentication_token_ciphertext = given.ciphertext
        returning u.id`,
      values: [
        moves.map(({ user }) => user.organizationId),
        moves.map(({ user }) => user.id),
        moves.map(({ user }) => user.ciphertext),
        moves.map(({ user, token }) => secrets.seal(token, { organizationId: user.organizationId, userId: user.id })),
        moves.map(({ user, token }) => secrets.lookupHash(token, user.organizationId)),
      ],
    });
    return { moved: rows.map(({ id }) => id), taken: [] };
  } catch (error) {
    if (!hasCode(error, uniqueViolation)) throw error;
    if (moves.length === 1) return { moved: [], taken: moves.map(({ user }) => user.id) };
    const half = Math.ceil(moves.length / 2);
    const [first, second] = [
      await move(owner, moves.slice(0, half), secrets),
      await move(owner, moves.slice(half), secrets),
    ];
    return { moved: [...first.moved, ...second.moved], taken: [...first.taken, ...second.taken] };
  }
}

const uniqueViolation = '23505';

const batchSize = 500;

const firstKey = { organizationId: '00000000-0000-0000-0000-000000000000', id: '00000000-0000-0000-0000-000000000000' };

const readAfter = (owner: Pool, { organizationId, id }: Omit<User, 'ciphertext'>): Promise<User[]> =>
  readBatch(owner, '(organization_id, id) > ($1, $2)', [organizationId, id]);

const readAgain = (owner: Pool, ids: readonly string[]): Promise<User[]> => readBatch(owner, 'id = any ($1)', [ids]);

async function readBatch(owner: Pool, condition: string, values: unknown[]): Promise<User[]> {
  const { rows } = await owner.query<User>(
    `select organization_id as "organizationId", id, external_authentication_token_ciphertext as ciphertext
     from app_public.users
     where ${condition} and external_authentication_token_ciphertext is not null
     order by organization_id, id
     limit ${batchSize}`,
    values,
  );
  return rows;
}
