import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { createSecrets, type Secrets, secretKeyCheck } from '../../crypto/secrets.ts';
import { ownerTransaction } from '../../database/pool/transactions.ts';
import { StartupError } from '../../errors/errors.ts';
import { lockOrganizations } from '../../provisioning/organizations.ts';

/** The outcome, for the external authentication tokens of users and the secrets of webhooks. */
type ReEncrypted = {
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
 * `admin re-encrypt`: seals every value of SECRET_KEY_PREVIOUS under SECRET_KEY.
 * The service runs with both keys meanwhile. It works in batches, and may be interrupted and run again. If a value changes meanwhile, it is
 * read again and not overwritten.
 *
 * @param isKeyLost seals nothing, and has the database accept SECRET_KEY although values of the lost key do not open any more
 * @throws {StartupError} without SECRET_KEY_PREVIOUS
 */
export async function reEncrypt(
  owner: Pool,
  [current, before]: readonly Buffer[],
  isKeyLost = false,
): Promise<ReEncrypted> {
  // A random key opens nothing.
  const previous = isKeyLost ? randomBytes(32) : before;
  if (!current || !previous) throw new StartupError('Set SECRET_KEY_PREVIOUS to the key before SECRET_KEY.');
  const keys = { current: createSecrets([current]), previous: createSecrets([previous]) };
  const outcome: ReEncrypted = { reEncrypted: 0, current: 0, failed: [] };
  for (const column of sealedColumns) await resealAll(owner, column, keys, outcome);
  if (outcome.failed.length === 0 || isKeyLost) await checkBy(owner, current);
  return outcome;
}

/** From now on the database has a checksum by this key. */
async function checkBy(owner: Pool, key: Buffer): Promise<void> {
  const { salt, checksum } = secretKeyCheck(key);
  await owner.query(
    `insert into app_hidden.secret_key_check (salt, checksum) values ($1, $2)
     on conflict on constraint secret_key_check_pkey do update set salt = excluded.salt, checksum = excluded.checksum`,
    [salt, checksum],
  );
}

type Keys = { current: Secrets; previous: Secrets };

type Row = { organizationId: string; id: string; ciphertext: Buffer };

type SealedColumn = {
  table: string;
  name: string;
  /** The column with the value's keyed hash, which is unique in an organization. */
  hash?: string;
  /** @throws when it was sealed under another key */
  open(secrets: Secrets, row: Row): string;
  seal(secrets: Secrets, value: string, row: Row): Buffer;
};

const webhookSecrets: Omit<SealedColumn, 'name'> = {
  table: 'app_public.webhooks',
  open: (secrets, { organizationId, id, ciphertext }) =>
    secrets.openWebhookSecret(ciphertext, { organizationId, webhookId: id }),
  seal: (secrets, secret, { organizationId, id }) =>
    secrets.sealWebhookSecret(secret, { organizationId, webhookId: id }),
};

const sealedColumns: readonly SealedColumn[] = [
  {
    table: 'app_public.users',
    name: 'external_authentication_token_ciphertext',
    hash: 'external_authentication_token_hash',
    open: (secrets, { organizationId, id, ciphertext }) => secrets.open(ciphertext, { organizationId, userId: id }),
    seal: (secrets, token, { organizationId, id }) => secrets.seal(token, { organizationId, userId: id }),
  },
  { ...webhookSecrets, name: 'secret_ciphertext' },
  { ...webhookSecrets, name: 'previous_secret_ciphertext' },
];

async function resealAll(owner: Pool, column: SealedColumn, keys: Keys, outcome: ReEncrypted): Promise<void> {
  let batch = await readBatch(owner, column, 'true', []);
  for (let last = batch.at(-1); last; last = batch.at(-1)) {
    for (let rows = batch; rows.length > 0; ) {
      const moves: Reseal[] = [];
      for (const row of rows) {
        const value = opens(column, keys.previous, row);
        if (value !== null) moves.push({ row, value });
        else if (opens(column, keys.current, row) !== null) outcome.current++;
        else outcome.failed.push(row.id);
      }
      const moved = await reseal(owner, column, moves, keys.current);
      outcome.reEncrypted += moved.size;
      const left = new Map(moves.flatMap(({ row }) => (moved.has(row.id) ? [] : [[row.id, row.ciphertext]])));
      const again = await readBatch(owner, column, 'id = any ($1)', [[...left.keys()]]);
      // Another user has the token of a row that has not changed.
      const { taken = [], changed = [] } = Object.groupBy(again, ({ id, ciphertext }) =>
        left.get(id)?.equals(ciphertext) ? 'taken' : 'changed',
      );
      outcome.failed.push(...taken.map(({ id }) => id));
      rows = changed;
    }
    batch = await readBatch(owner, column, '(organization_id, id) > ($1, $2)', [last.organizationId, last.id]);
  }
}

type Reseal = { row: Row; value: string };

function opens(column: SealedColumn, secrets: Secrets, row: Row): string | null {
  try {
    return column.open(secrets, row);
  } catch {
    return null;
  }
}

/** Compare-and-set: seals the values anew that have not changed meanwhile, and none that another user has. */
async function reseal(
  owner: Pool,
  { table, name, hash, seal }: SealedColumn,
  moves: readonly Reseal[],
  secrets: Secrets,
): Promise<Set<string>> {
  const ofUser = {
    setting: `, ${hash} = given.hash`,
    condition: `and not exists (
    select from ${table} other
    where other.organization_id = given.organization_id and other.${hash} = given.hash and other.id <> given.id)`,
  };
  const { setting, condition } = hash ? ofUser : { setting: '', condition: '' };
  const organizationIds = moves.map(({ row }) => row.organizationId);
  return ownerTransaction(owner, async (client) => {
    await lockOrganizations(client, [...new Set(organizationIds)]);
    const { rows } = await client.query<{ id: string }>(
      `update ${table} t
       set ${name} = given.sealed ${setting}
       from unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::bytea[], $5::bytea[]) as given (organization_id, id, ciphertext, sealed, hash)
       where t.organization_id = given.organization_id and t.id = given.id and t.${name} = given.ciphertext ${condition}
       returning t.id`,
      [
        organizationIds,
        moves.map(({ row }) => row.id),
        moves.map(({ row }) => row.ciphertext),
        moves.map(({ row, value }) => seal(secrets, value, row)),
        moves.map(({ row, value }) => secrets.lookupHash(value, row.organizationId)),
      ],
    );
    return new Set(rows.map(({ id }) => id));
  });
}

const batchSize = 500;

async function readBatch(owner: Pool, { table, name }: SealedColumn, condition: string, values: unknown[]) {
  const { rows } = await owner.query<Row>(
    `select organization_id as "organizationId", id, ${name} as ciphertext
     from ${table}
     where ${condition} and ${name} is not null
     order by organization_id, id
     limit ${batchSize}`,
    values,
  );
  return rows;
}
