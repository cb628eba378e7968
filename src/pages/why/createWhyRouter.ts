import type { IncomingHttpHeaders } from 'node:http';
import { type ErrorRequestHandler, type Request, type RequestHandler, type Response, Router } from 'express';
import { DatabaseError, type Pool } from 'pg';
import { GraphQLError, type GraphQLSchema } from 'postgraphile/graphql';
import { z } from 'zod';
import { findNodeId } from '../../../plugins/NodeIdPlugin.ts';
import type { Config } from '../../config.ts';
import { rolledBack } from '../../database/pool/transactions.ts';
import { isRetryable } from '../../database/pool/unavailable.ts';
import { hasCode } from '../../errors/errors.ts';
import { RequestError } from '../../graphql/request.ts';
import { unauthenticated } from '../../graphql/response.ts';
import { requestIdOf } from '../../http/middleware.ts';
import { createBodyReader, decodeUtf8, isJson, weighJson } from '../../http/requestBody.ts';
import { readBearer, verifyBearer } from '../../token/accessTokens.ts';
import { scopes, scopesByRank } from '../../token/scopes.ts';
import type { Claims } from '../../token/settings.ts';
import { isFromThisMachine } from '../demo.ts';
import { explainNull } from './explainNull.ts';
import { explainRow, NoSuchRowError } from './explainRow.ts';
import { withIds } from './withIds.ts';

/** Works with connections as the owner. */
export type WithOwner = <T>(work: (owner: Pool) => Promise<T>) => Promise<T>;

type WhyContext = {
  readonly config: Config;
  /** Connections as the authenticator. */
  readonly pool: Pool;
  readonly schema: GraphQLSchema;
  readonly withOwner: WithOwner;
};

/**
 * Access explanation for developers: which policy shows or hides an object of an answer.
 * It tells that hidden rows of the token's organization exist, so it is made only where {@link WithOwner} is given, and answers only this
 * machine (404 otherwise).
 * The bearer token says about whom it is asked. Nothing is changed, and no cookie counts, so that another site's page learns nothing.
 */
export function createWhyRouter({ config, pool, schema, withOwner }: WhyContext): Router {
  const nodeKeys = schema.extensions.nodeKeys;
  const origins = schema.extensions.rowOrigins();

  const answerWhy: RequestHandler = async (request, response) => {
    const { id, field } = parse(questionSchema, request.body);
    const claims = await claimsOf(pool, request, response);
    const [type = '', ...values] = findNodeId(nodeKeys, id) ?? [];
    const origin = origins.get(type);
    if (!origin) throw new Unanswerable('That id is none of this service: copy one from an answer.');
    const key = JSON.stringify(Object.fromEntries(origin.key.map((column, index) => [column, values[index]])));
    const row = { relation: origin.relation, key };
    const principal = principalOf(claims);
    const explanation = await withOwner((owner) =>
      rolledBack(owner, (client) =>
        field === undefined
          ? explainRow(client, principal, type, row)
          : explainNull(client, principal, origins, { type, row, field }),
      ),
    );
    response.json(explanation);
  };

  const answerOrganization: RequestHandler = async (request, response) => {
    const { organizationId } = await claimsOf(pool, request, response);
    const text = 'select name from app_hidden.organizations where id = $1';
    const { rows } = await withOwner((owner) => owner.query<{ name: string }>(text, [organizationId]));
    response.json({ organization: rows[0]?.name ?? null });
  };

  const answerDocument: RequestHandler = (request, response) => {
    const { query, variables } = parse(documentSchema, request.body);
    response.json(withIds(schema, query, variables ?? {}, config.limits.tokens));
  };

  const onlyHere: RequestHandler = (request, _response, next) =>
    next(isFromThisMachine(config, request) ? undefined : 'router');
  const readBody = createBodyReader(config.limits.body);
  const read: RequestHandler = async (request, response, next) => {
    request.body = parseJson(request.headers, await readBody(request, response));
    next();
  };
  return Router()
    .use('/graphiql/why', onlyHere)
    .post('/graphiql/why', read, answerWhy)
    .post('/graphiql/why/document', read, answerDocument)
    .get('/graphiql/why/organization', answerOrganization)
    .use('/graphiql/why', answerProblem);
}

/** A question that has no answer; its message is for the developer. */
class Unanswerable extends Error {}

const questionSchema = z.object({ id: z.string().max(10_000), field: z.string().max(1000).optional() });

const documentSchema = z.object({ query: z.string(), variables: z.record(z.string(), z.unknown()).nullish() });

function parse<T>(schema: z.ZodType<T>, body: unknown): T {
  const { data, error } = schema.safeParse(body);
  if (error) throw new Unanswerable(`The question cannot be read: ${z.prettifyError(error)}`);
  return data as T;
}

function parseJson(headers: IncomingHttpHeaders, body: Buffer): unknown {
  const { excess } = weighJson(body);
  if (excess !== null) throw new Unanswerable(`The question has ${excess}.`);
  try {
    if (isJson(headers)) return JSON.parse(decodeUtf8(body) ?? '');
  } catch {}
  throw new Unanswerable('The question cannot be read: it is no JSON.');
}

/** @throws {RequestError} 401 without a token that is valid now */
async function claimsOf(pool: Pool, request: Request, response: Response): Promise<Claims> {
  const bearer = readBearer(request);
  const claims = bearer.kind === 'token' ? await verifyBearer(pool, bearer.token, requestIdOf(response)) : null;
  if (!claims) throw unauthenticated(bearer.kind);
  return claims;
}

/** As `audit.principals` names the holder of a token. */
function principalOf({ scopes: held, userId, clientId }: Claims): string {
  const scope = scopesByRank.find((name) => held.includes(name)) ?? 'basic';
  return `${scope}:${scopes[scope].holder === 'user' ? userId : clientId}`;
}

const answerProblem: ErrorRequestHandler = (error, _request, response, next) => {
  if (error instanceof RequestError) response.status(error.status).set(error.headers).json({ error: error.message });
  else if (error instanceof Unanswerable || error instanceof GraphQLError)
    response.status(400).json({ error: error.message });
  else if (error instanceof NoSuchRowError || hasCode(error, 'P0002', 'P0003'))
    response.status(404).json({ error: "No row of this token's organization has this id: it may have been deleted." });
  // Such as an error in a policy, which its developer wants to read.
  else if (error instanceof DatabaseError && !isRetryable(error))
    response.status(400).json({ error: `PostgreSQL: ${error.message} (SQLSTATE ${error.code})` });
  else next(error);
};
