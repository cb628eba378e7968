import type { RequestHandler, Response } from 'express';
import type { Pool } from 'pg';
import type { Config } from '../config.ts';
import { unauthenticated } from '../graphql/response.ts';
import { requestIdOf } from '../http/middleware.ts';
import { type Bearer, readBearer, verifyBearer } from '../token/accessTokens.ts';

/**
 * Requires the right to read the schema, by the rule for introspection.
 * Every client has it, unless `PUBLIC_INTROSPECTION` is off; then a client needs a valid token. An invalid token is refused even if none is
 * needed.
 *
 * @param refuse answers a client without a token that needs one
 */
export function requireSchemaAccess(
  { publicIntrospection }: Config,
  pool: Pool,
  refuse: RequestHandler = (_request, response) => refuseBearer(response, 'missing'),
): RequestHandler {
  return async (request, response, next) => {
    response.vary('Authorization');
    const bearer = readBearer(request);
    const claims = bearer.kind === 'token' ? await verifyBearer(pool, bearer.token, requestIdOf(response)) : null;
    if (claims || (bearer.kind === 'missing' && publicIntrospection)) next();
    else if (bearer.kind === 'missing') refuse(request, response, next);
    else refuseBearer(response, bearer.kind);
  };
}

/** Answers as `/graphql` does. */
function refuseBearer(response: Response, kind: Bearer['kind']): void {
  const { status, headers, errors } = unauthenticated(kind);
  response.set({ 'Cache-Control': 'no-store', ...headers });
  response.status(status).json({ errors });
}
