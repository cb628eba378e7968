import type { Request } from 'express';
import type { MiddlewareFunction } from 'oauth2orize';
import type { Pool, PoolClient } from 'pg';
import type { Secrets } from '../../crypto/secrets.ts';
import type { Client } from '../client/authenticateClient.ts';
import { invalidGrant } from '../errors.ts';
import type { Form } from '../form.ts';
import { inOrganization } from '../inOrganization.ts';
import type { ParameterFallback, Parameters } from '../parameters.ts';
import { grantedScopes, scopesOfGrantType } from '../scope.ts';
import { issueToUser } from '../token/issueToUser.ts';

/**
 * A person by external authentication token.
 * `grant_type=password` with `external_authentication_token` in place of user name and password. The reply lists what was submitted, too
 * (interface specification, Authentication, row 7).
 */
export function externalAuthenticationToken(pool: Pool, secrets: Secrets): MiddlewareFunction<Client> {
  return (request, response, next) => {
    const { oauthClient, body } = request as Request;
    if (!oauthClient || body.external_authentication_token === undefined) return next();
    issue(pool, secrets, oauthClient, body)
      .then((reply) => response.setHeader('Content-Type', 'application/json').end(JSON.stringify(reply)))
      .catch(next);
  };
}

/** Legacy query credentials: row 7 also passes the parameters as the query of a POST without a body. */
export const legacyQueryCredentials: ParameterFallback = (body, query) => {
  const credential = 'external_authentication_token';
  if (body.length > 0 || find(query, 'grant_type') !== 'password') return null;
  return find(query, credential) === undefined ? null : { form: query, credential };
};

const find = (form: Form, name: string) => form.find(([known]) => known === name)?.[1];

async function issue(pool: Pool, secrets: Secrets, client: Client, parameters: Parameters) {
  const { organizationId } = client.application;
  const { grant_type, client_id, scope, external_authentication_token = '' } = parameters;
  const scopes = grantedScopes(scopesOfGrantType.password, client.application, scope);
  const hashes = secrets.lookupHashes(external_authentication_token, organizationId);
  const user = await inOrganization(pool, organizationId, client.requestId, (database) => findUser(database, hashes));
  if (!user || user.disabled) throw invalidGrant('external_authentication_token is wrong.');
  return {
    ...(await issueToUser(pool, client, user.id, scopes)),
    grant_type,
    client_id,
    external_authentication_token,
  };
}

type UserRow = { id: string; disabled: boolean };

async function findUser(database: PoolClient, hashes: readonly Buffer[]): Promise<UserRow | undefined> {
  const { rows } = await database.query<UserRow>({
    name: 'find_user_by_external_authentication_token',
    text: `
      select u.id, c.disabled_at is not null as disabled
      from app_public.users u
      left join oauth.credentials c on c.organization_id = u.organization_id and c.user_id = u.id
      where u.external_authentication_token_hash = any ($1)`,
    values: [hashes],
  });
  return rows[0];
}
