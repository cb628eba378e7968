import type { Pool } from 'pg';
import type { Scope } from '../../token/claims.ts';
import type { Client } from '../client/authenticateClient.ts';
import { inOrganization } from '../inOrganization.ts';
import { createUserGrant } from './createUserGrant.ts';
import { issueTokens, type TokenReply } from './issueTokens.ts';

/** A new grant for a person who has just signed in at the token endpoint, and its tokens. */
export function issueToUser(pool: Pool, client: Client, userId: string, scopes: readonly Scope[]): Promise<TokenReply> {
  return inOrganization(pool, client.application.organizationId, client.requestId, async (database) => {
    const grantId = await createUserGrant(database, client, 'password', userId, scopes);
    return issueTokens(database, { grantId, scopes });
  });
}
