import type { RequestHandler } from 'express';
import oauth2orize from 'oauth2orize';
import type { Pool } from 'pg';
import type { Secrets } from '../../crypto/secrets.ts';
import { fieldsOf } from '../../observability/requestFields.ts';
import type { AuthenticateUser } from '../authenticateUser.ts';
import type { Client } from '../client/authenticateClient.ts';
import { authorizationCode } from '../grants/authorizationCode.ts';
import { clientCredentials } from '../grants/clientCredentials.ts';
import { externalAuthenticationToken } from '../grants/externalAuthenticationToken.ts';
import { password } from '../grants/password.ts';
import { refreshToken } from '../grants/refreshToken.ts';

/** The grant types of `POST /oauth/token`, for an authenticated client and valid parameters. */
export function createTokenExchange(pool: Pool, secrets: Secrets, authenticateUser: AuthenticateUser): RequestHandler {
  const server = oauth2orize.createServer<Client>();
  server.exchange('client_credentials', clientCredentials(pool));
  server.exchange('password', externalAuthenticationToken(pool, secrets));
  server.exchange('password', password(pool, authenticateUser));
  server.exchange('authorization_code', authorizationCode(pool));
  server.exchange('refresh_token', refreshToken(pool));
  const exchange = server.token();
  return (request, response, next) => {
    const { grant_type, external_authentication_token } = request.body;
    const isExternal = grant_type === 'password' && external_authentication_token !== undefined;
    fieldsOf(response).grant = isExternal ? 'external_authentication_token' : grant_type;
    exchange(request, response, next);
  };
}
