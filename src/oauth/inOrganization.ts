import type { Pool, PoolClient } from 'pg';
import type { RequestId } from '../observability/requestFields.ts';
import { oauthSettings } from '../token/settings.ts';
import { inTransaction } from '../token/transaction.ts';

/** One transaction of the OAuth server's own, which the policies limit to one organization. */
export function inOrganization<T>(
  pool: Pool,
  organizationId: string,
  requestId: RequestId,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return inTransaction(pool, oauthSettings(organizationId, requestId), work);
}
