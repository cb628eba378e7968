import type { Pool, PoolClient } from 'pg';
import type { RequestId } from '../observability/requestFields.ts';
import { requireOwnService } from '../token/accessTokens.ts';
import { oauthSettings } from '../token/settings.ts';
import { inTransaction } from '../token/transaction.ts';
import { OAuthError } from './errors.ts';

/**
 * One transaction of the OAuth server's own, which the policies limit to one organization.
 *
 * @throws a database error for which `hasMoved` holds when the organization is not served here
 */
export function inOrganization<T>(
  pool: Pool,
  organizationId: string,
  requestId: RequestId,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return inTransaction(pool, oauthSettings(organizationId, requestId), work, requireOwnService);
}

/**
 * The same, but commits even if `work` returns a refusal, and then throws that.
 * So a grant that it has ended stays ended.
 */
export async function commitWithRefusal<T>(
  ...transaction: Parameters<typeof inOrganization<T | OAuthError>>
): Promise<T> {
  const outcome = await inOrganization(...transaction);
  if (outcome instanceof OAuthError) throw outcome;
  return outcome;
}
