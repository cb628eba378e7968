import type { Pool, PoolClient } from 'pg';
import { onlyRow } from '../../database/onlyRow.ts';
import type { Scope } from '../../token/scopes.ts';
import type { Client } from '../client/authenticateClient.ts';
import { inOrganization } from '../inOrganization.ts';
import { issueTokens, type TokenReply } from './issueTokens.ts';

/**
 * Creates a grant from a person to an application, with how the client authenticated; returns its id.
 * The caller's transaction is in the application's organization.
 */
export async function createUserGrant(
  database: PoolClient,
  { application, authentication }: Client,
  grantType: string,
  userId: string,
  scopes: readonly Scope[],
): Promise<string> {
  const grant = await database.query<{ id: string }>({
    name: 'create_user_grant',
    text: `
      insert into oauth.grants (organization_id, application_id, user_id, grant_type, scopes, client_authentication)
      values (app_hidden.current_organization_id(), $1, $2, $3, $4, $5)
      returning id`,
    values: [application.id, userId, grantType, scopes, authentication],
  });
  return onlyRow(grant).id;
}

/** Creates a grant for a person who has just signed in at the token endpoint, and issues its tokens. */
export function issueToUser(pool: Pool, client: Client, userId: string, scopes: readonly Scope[]): Promise<TokenReply> {
  return inOrganization(pool, client.application.organizationId, client.requestId, async (database) => {
    const grantId = await createUserGrant(database, client, 'password', userId, scopes);
    return issueTokens(database, { grantId, scopes });
  });
}
