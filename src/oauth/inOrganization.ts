import type { Pool, PoolClient } from 'pg';
import { oauthSettings } from '../token/settings.ts';
import { inTransaction } from '../token/transaction.ts';

/**
 * One transaction of the OAuth server's own, limited by the policies to one organization; to none at all while the
 * organization is not known yet.
 */
export function inOrganization<T>(
  pool: Pool,
  organizationId: string | null,
  requestId: string,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return inTransaction(pool, oauthSettings(organizationId, requestId), work);
}
