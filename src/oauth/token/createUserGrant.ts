import type { PoolClient } from 'pg';
import type { Scope } from '../../token/claims.ts';
import type { Client } from '../client/authenticateClient.ts';
import { onlyRow } from '../onlyRow.ts';

/**
 * A new grant from a person to an application, and how the client authenticated; its id.
 * The caller's transaction is in the application's organization.
 */
export async function createUserGrant(
  database: PoolClient,
  { application, authentication }: Client,
  grantType: 'password' | 'authorization_code',
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
