import type { Pool } from 'pg';
import { hashToken } from '../../../src/token/accessTokens.ts';
import { createTenant, type Tenant } from '../../graphql/support.ts';

export type TenantWithSecret = Tenant & { readonly secret: string };

/** An organization with an application that can get tokens by its secret. */
export async function createTenantWithSecret(owner: Pool): Promise<TenantWithSecret> {
  const tenant = await createTenant({ database: { owner } });
  const secret = 'a-secret-of-the-clients-that-nobody-guesses';
  await owner.query(
    'insert into oauth.application_secrets (organization_id, application_id, secret_hash) values ($1, $2, $3)',
    [tenant.organizationId, tenant.applicationId, hashToken(secret)],
  );
  return { ...tenant, secret };
}
