import type { Pool } from 'pg';
import type { Scope } from '../token/claims.ts';
import type { Client } from './authenticateClient.ts';
import { inOrganization } from './inOrganization.ts';
import { issueTokens, type TokenReply } from './issueTokens.ts';
import { onlyRow } from './onlyRow.ts';

/** A new grant for a person who has just signed in, and its tokens. The grant remembers how its client authenticated. */
export function issueToUser(
  pool: Pool,
  { application, authentication, requestId }: Client,
  userId: string,
  scopes: readonly Scope[],
): Promise<TokenReply> {
  return inOrganization(pool, application.organizationId, requestId, async (database) => {
    const grant = await database.query<{ id: string }>({
      name: 'create_user_grant',
      text: `
        insert into oauth.grants (organization_id, application_id, user_id, grant_type, scopes, client_authentication)
        values (app_hidden.current_organization_id(), $1, $2, 'password', $3, $4)
        returning id`,
      values: [application.id, userId, scopes, authentication],
    });
    return issueTokens(database, { grantId: onlyRow(grant).id, scopes });
  });
}
