import oauth2orize from 'oauth2orize';
import type { Pool, PoolClient } from 'pg';
import type { Client } from '../authenticateClient.ts';
import { invalidGrant } from '../errors.ts';
import { inOrganization } from '../inOrganization.ts';
import type { TokenReply } from '../issueTokens.ts';
import { issueToUser } from '../issueToUser.ts';
import type { Parameters } from '../parameters.ts';
import { verifyPassword } from '../passwords.ts';
import { respond } from '../respond.ts';
import { grantedScopes, scopesOfGrantType } from '../scope.ts';

/** A person by e-mail address and password (RFC 6749 section 4.3), in the organization of the application. */
export const password = (pool: Pool) =>
  oauth2orize.exchange.password<Client>(
    { userProperty: 'oauthClient' },
    // Called by the number of its parameters.
    (client: Client, username, secret, _scope, parameters: Parameters, _info, issued) =>
      respond(issued, issue(pool, client, username, secret, parameters)),
  );

async function issue(
  pool: Pool,
  client: Client,
  username: string,
  secret: string,
  { scope }: Parameters,
): Promise<TokenReply> {
  const scopes = grantedScopes(scopesOfGrantType.password, client.application, scope);
  const user = await inOrganization(pool, client.application.organizationId, client.requestId, (database) =>
    findUser(database, username),
  );
  // Nobody is refused before the password was verified, or the time would say why.
  const passwordHash = user && !user.disabled ? user.password_hash : null;
  if (!(await verifyPassword(passwordHash, secret)) || !user) throw invalidGrant('User name or password is wrong.');
  return issueToUser(pool, client, user.id, scopes);
}

type UserRow = { id: string; password_hash: string | null; disabled: boolean };

async function findUser(database: PoolClient, username: string): Promise<UserRow | undefined> {
  const { rows } = await database.query<UserRow>({
    name: 'find_user_by_email',
    text: `
      select u.id, c.password_hash, c.disabled_at is not null as disabled
      from app_public.users u
      left join oauth.credentials c on c.organization_id = u.organization_id and c.user_id = u.id
      where u.email_lowercase = lower($1)`,
    values: [username.trim()],
  });
  return rows[0];
}
