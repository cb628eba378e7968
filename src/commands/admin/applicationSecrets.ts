import type { ClientBase, Pool } from 'pg';
import { ownerTransaction } from '../../database/pool/transactions.ts';
import { StartupError } from '../../errors/errors.ts';
import { createClientSecret } from '../../provisioning/applications.ts';
import { hashToken } from '../../token/accessTokens.ts';
import { lockApplication } from './applications.ts';

/**
 * `admin rotate-secret`: adds a secret, shown once; the present one is valid until it is retired.
 *
 * @throws {StartupError} for a public application, or when two secrets are valid already: the older may be in use still
 */
export function rotateSecret(owner: Pool, clientId: string) {
  return withSecrets(owner, clientId, async (client, { organizationId, id, count }) => {
    if (count >= 2) {
      throw new StartupError(`${clientId} has two valid secrets; run \`retire-secret ${clientId}\` first.`);
    }
    const clientSecret = createClientSecret();
    await client.query(
      'insert into oauth.application_secrets (organization_id, application_id, secret_hash) values ($1, $2, $3)',
      [organizationId, id, hashToken(clientSecret)],
    );
    return { clientId, clientSecret, validSecrets: count + 1 };
  });
}

/**
 * `admin retire-secret`: from the next request on, only the newest secret is valid. Tokens stay.
 *
 * @throws {StartupError} when there is no older one
 */
export function retireSecret(owner: Pool, clientId: string) {
  return withSecrets(owner, clientId, async (client, { organizationId, id, count }) => {
    if (count < 2)
      throw new StartupError(`${clientId} has no older secret; \`rotate-secret ${clientId}\` adds a new one.`);
    await client.query(
      `delete from oauth.application_secrets old
       where organization_id = $1 and application_id = $2
         and exists (
           select from oauth.application_secrets newer
           where newer.organization_id = old.organization_id and newer.application_id = old.application_id
             and newer.created_at > old.created_at)`,
      [organizationId, id],
    );
    return { clientId, validSecrets: 1 };
  });
}

type Secrets = { organizationId: string; id: string; count: number };

function withSecrets<T>(
  owner: Pool,
  clientId: string,
  work: (client: ClientBase, secrets: Secrets) => Promise<T>,
): Promise<T> {
  return ownerTransaction(owner, async (client) => {
    const { organizationId, id, confidential } = await lockApplication(client, clientId);
    if (!confidential) throw new StartupError(`${clientId} is a public application: it has no secret.`);
    const { rows } = await client.query<{ count: number }>(
      'select count(*)::int as count from oauth.application_secrets where organization_id = $1 and application_id = $2',
      [organizationId, id],
    );
    return work(client, { organizationId, id, count: rows[0]?.count ?? 0 });
  });
}
