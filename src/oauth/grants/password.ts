import oauth2orize from 'oauth2orize';
import type { Pool } from 'pg';
import type { AuthenticateUser } from '../authenticateUser.ts';
import type { Client } from '../client/authenticateClient.ts';
import { invalidGrant } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import { grantedScopes, scopesOfGrantType } from '../scope.ts';
import type { TokenReply } from '../token/issueTokens.ts';
import { issueToUser } from '../token/issueToUser.ts';
import { respond } from '../token/respond.ts';

/** A person by e-mail address and password (RFC 6749 section 4.3), in the application's organization. */
export const password = (pool: Pool, authenticateUser: AuthenticateUser) =>
  oauth2orize.exchange.password<Client>(
    { userProperty: 'oauthClient' },
    // Called by the number of its parameters.
    (client: Client, username, secret, _scope, parameters: Parameters, _info, issued) =>
      respond(issued, issue(pool, authenticateUser, client, { username, password: secret }, parameters)),
  );

async function issue(
  pool: Pool,
  authenticateUser: AuthenticateUser,
  client: Client,
  credentials: { username: string; password: string },
  { scope }: Parameters,
): Promise<TokenReply> {
  const { application, address, requestId } = client;
  const scopes = grantedScopes(scopesOfGrantType.password, application, scope);
  const userId = await authenticateUser(application.organizationId, requestId, { ...credentials, address });
  if (userId === null) throw invalidGrant('User name or password is wrong.');
  return issueToUser(pool, client, userId, scopes);
}
