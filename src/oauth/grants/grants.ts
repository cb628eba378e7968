import type { Request, RequestHandler } from 'express';
import type { MiddlewareFunction } from 'oauth2orize';
import oauth2orize from 'oauth2orize';
import { fieldsOf } from '../../observability/requestFields.ts';
import { type Client, requireClient } from '../client.ts';
import type { Parameters } from '../form.ts';
import { authorizationCode } from './authorizationCode.ts';
import { clientCredentials } from './clientCredentials.ts';
import { externalAuthenticationToken } from './externalAuthenticationToken.ts';
import type { Grant, GrantContext } from './grant.ts';
import { password } from './password.ts';
import { refreshToken } from './refreshToken.ts';

/**
 * The list of grants.
 * A new one is a file here, a line below and a migration, which widens the constraint on `grant_type`.
 */
export const grants: readonly Grant[] = [
  clientCredentials,
  password,
  externalAuthenticationToken,
  authorizationCode,
  refreshToken,
];

export const grantTypes: readonly string[] = [...new Set(grants.map(({ type }) => type))];

/** The grant that a request is for; undefined when it names none. */
export const grantOf = (parameters: Parameters): Grant | undefined =>
  grants.find(({ type, isMeant }) => type === parameters.grant_type && (isMeant?.(parameters) ?? true));

/**
 * How the users of an application's mobile app may sign in.
 * The constraint on applications lists them, too.
 */
export const mobileAppGrants: readonly string[] = grants
  .filter(({ isForMobileApps }) => isForMobileApps)
  .map(({ name }) => name);

export const grantParameters: readonly string[] = grants.flatMap(({ parameters }) => Object.keys(parameters));

/**
 * Issues tokens by the grants of the list.
 * The client is already authenticated, and its parameters are valid.
 */
export function createTokenExchange(context: GrantContext): RequestHandler {
  const server = oauth2orize.createServer<Client>();
  for (const grant of grants) server.exchange(grant.type, exchange(grant, context));
  return server.token();
}

export const exchange =
  (grant: Grant, context: GrantContext): MiddlewareFunction =>
  (request, response, next) => {
    const asked = request as Request;
    if (grantOf(asked.body) !== grant) return next();
    fieldsOf(response).grant = grant.name;
    grant
      .issue(context, requireClient(asked), asked.body)
      .then((reply) => response.setHeader('Content-Type', 'application/json').end(JSON.stringify(reply)))
      .catch(next);
  };
