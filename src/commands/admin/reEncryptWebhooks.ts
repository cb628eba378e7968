import type { Pool } from 'pg';
import { createSecrets, type Secrets } from '../../crypto/secrets.ts';
import type { ReEncrypted } from './reEncrypt.ts';

/**
 * Re-encrypts the secrets of webhooks, which are few; adds to `outcome`.
 * A secret that is rotated meanwhile is already under SECRET_KEY, and is not overwritten.
 */
export async function reEncryptWebhooks(
  owner: Pool,
  [current, previous]: readonly Buffer[],
  outcome: ReEncrypted,
): Promise<void> {
  if (!current || !previous) return;
  const keys = { current: createSecrets([current]), previous: createSecrets([previous]) };
  for (const column of ['secret_ciphertext', 'previous_secret_ciphertext'] as const) {
    const { rows } = await owner.query<Sealed>(
      `select organization_id as "organizationId", id as "webhookId", ${column} as ciphertext
       from app_public.webhooks where ${column} is not null`,
    );
    for (const sealed of rows) {
      const secret = opens(keys.previous, sealed);
      if (secret !== null)
        outcome.reEncrypted += await replace(owner, column, sealed, keys.current.sealWebhookSecret(secret, sealed));
      else if (opens(keys.current, sealed) !== null) outcome.current++;
      else outcome.failed.push(sealed.webhookId);
    }
  }
}

type Sealed = { readonly organizationId: string; readonly webhookId: string; readonly ciphertext: Buffer };

function opens(secrets: Secrets, { ciphertext, ...owner }: Sealed): string | null {
  try {
    return secrets.openWebhookSecret(ciphertext, owner);
  } catch {
    return null;
  }
}

/** Compare-and-set. @returns 0 when the secret was changed meanwhile */
async function replace(owner: Pool, column: string, { organizationId, webhookId, ciphertext }: Sealed, sealed: Buffer) {
  const { rowCount } = await owner.query(
    `update app_public.webhooks set ${column} = $4 where organization_id = $1 and id = $2 and ${column} = $3`,
    [organizationId, webhookId, ciphertext, sealed],
  );
  return rowCount ?? 0;
}
