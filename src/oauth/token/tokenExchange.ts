import type { Request, RequestHandler } from 'express';
import oauth2orize, { type MiddlewareFunction } from 'oauth2orize';
import { fieldsOf } from '../../observability/requestFields.ts';
import { type Client, requireClient } from '../client/authenticateClient.ts';
import type { Grant, GrantContext } from '../grants/grant.ts';
import { grantOf, grants } from '../grants/grants.ts';

/**
 * Issues tokens by the grants of the list.
 * The client is already authenticated, and its parameters are valid.
 */
export function createTokenExchange(context: GrantContext): RequestHandler {
  const server = oauth2orize.createServer<Client>();
  for (const grant of grants) server.exchange(grant.type, exchange(grant, context));
  return server.token();
}

const exchange =
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
