import type { Pool, PoolClient } from 'pg';
import type { RequestId } from '../observability/requestFields.ts';
import { oauthSettings } from '../token/settings.ts';
import { inTransaction } from '../token/transaction.ts';
import { OAuthError } from './errors.ts';

/** One transaction of the OAuth server's own, which the policies limit to one organization. */
export function inOrganization<T>(
  pool: Pool,
  organizationId: string,
  requestId: RequestId,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return inTransaction(pool, oauthSettings(organizationId, requestId), work);
}

/**
 * The same, committed also when `work` returns a refusal, to be thrown then:
 * the grant that it ended stays ended.
 */
export async function commitWithRefusal<T>(
  ...transaction: Parameters<typeof inOrganization<T | OAuthError>>
): Promise<T> {
  const outcome = await inOrganization(...transaction);
  if (outcome instanceof OAuthError) throw outcome;
  return outcome;
}
