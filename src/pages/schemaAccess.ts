import type { RequestHandler, Response } from 'express';
import type { Pool } from 'pg';
import type { Config } from '../config.ts';
import { graphqlError } from '../graphql/errors.ts';
import { requestIdOf } from '../http/middleware/requestId.ts';
import { bearerChallenge, bearerProblems, readBearer } from '../token/bearer.ts';
import { verifyBearer } from '../token/verify.ts';

/**
 * Requires the right to read the schema, by the rule for introspection.
 * Every client passes, unless `PUBLIC_INTROSPECTION` is off, and every client with a valid token. An invalid one is refused also where none
 * is needed.
 *
 * @param refuse answers a client without a token that needs one
 */
export function requireSchemaAccess(
  { publicIntrospection }: Config,
  pool: Pool,
  refuse: RequestHandler = (_request, response) => unauthenticated(response, 'missing'),
): RequestHandler {
  return async (request, response, next) => {
    response.vary('Authorization');
    const bearer = readBearer(request);
    const claims = bearer.kind === 'token' ? await verifyBearer(pool, bearer.token, requestIdOf(response)) : null;
    if (claims || (bearer.kind === 'missing' && publicIntrospection)) next();
    else if (bearer.kind === 'missing') refuse(request, response, next);
    else unauthenticated(response, bearer.kind);
  };
}

/** RFC 6750 section 3, with the error that `/graphql` gives. */
function unauthenticated(response: Response, kind: Parameters<typeof bearerChallenge>[0]): void {
  response
    .status(401)
    .set({ 'Cache-Control': 'no-store', 'WWW-Authenticate': bearerChallenge(kind) })
    .json({ errors: [graphqlError('UNAUTHENTICATED', bearerProblems[kind])] });
}
