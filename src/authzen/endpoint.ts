import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Router } from 'express';
import type { Pool } from 'pg';
import { decodeNodeId } from '../../plugins/NodeIdPlugin.ts';
import { isUuid } from '../../plugins/values.ts';
import type { Config } from '../config.ts';
import { isStalePlan } from '../database/driver/driver.ts';
import { hasMoved, isMigratedMeanwhile, isRetryable, logUnavailable } from '../database/pool/unavailable.ts';
import { hasCode } from '../errors/errors.ts';
import { requestIdOf } from '../http/middleware.ts';
import { createBodyReader, decodeUtf8, free, isJson, untilClosed, weighJson } from '../http/requestBody.ts';
import type { Log } from '../log.ts';
import { fieldsOf, type RequestFields, type RequestId } from '../observability/requestFields.ts';
import { traced } from '../observability/traced.ts';
import { isRetryableOnPrimary, type ReplicaQueries, requireReplayed } from '../replica/watchReplica.ts';
import { resumeQueued } from '../scheduling/caller.ts';
import { inTurnIfLong } from '../scheduling/turns.ts';
import {
  type AccessToken,
  type Bearer,
  bearerChallenge,
  bearerProblems,
  InvalidTokenError,
  readBearer,
  type TokenVerifier,
  withBearerToken,
} from '../token/accessTokens.ts';
import { graphSettings } from '../token/settings.ts';
import { queryOnce } from '../token/transaction.ts';
import {
  AuthzenError,
  type Entity,
  type Evaluation,
  type Evaluations,
  readEvaluation,
  readEvaluations,
  type Semantic,
} from './readEvaluations.ts';

type AuthzenOptions = DeciderOptions & {
  readonly config: Config;
  readonly verifyToken: TokenVerifier;
  readonly log: Log;
};

/**
 * The Access Evaluation API and the Access Evaluations API (OpenID Authorization API 1.0, AuthZEN): a policy decision point.
 * A request passes the steps from top to bottom, and is refused at the first that it fails. The result is by route.
 */
export function createAuthzenEndpoints(options: AuthzenOptions) {
  const { config, log } = options;
  const readBody = createBodyReader(config.limits.body);
  const evaluate = createEvaluation(options);

  const answer = async (request: IncomingMessage, response: ServerResponse, read: Read): Promise<object> => {
    if (request.method !== 'POST') throw new AuthzenError(405, 'Send the request by POST.', { Allow: 'POST' });
    const body = await readBody(request, response);
    await resumeQueued();
    return evaluate({ request, response, body, signal: untilClosed(response) }, read).finally(() => free(body));
  };

  const refuse = (error: unknown, response: ServerResponse): void => {
    // The client has disconnected. The error of its cancelled statement is no failure.
    if (response.closed) return;
    const { status, headers, message } = toRefusal(error, config.limits.body);
    const requestId = requestIdOf(response);
    fieldsOf(response).code = codes[status] ?? 'BAD_USER_INPUT';
    if (status === 503) logUnavailable(log, error, { requestId });
    else if (status >= 500) log.error({ requestId, error }, 'an evaluation failed');
    send(response, { status, headers, type: 'text/plain', body: message });
  };

  const listenerOf =
    (read: Read): RequestListener =>
    (request, response) => {
      answer(request, response, read).then(
        (body) => send(response, { status: 200, type: 'application/json', body: JSON.stringify(body) }),
        (error: unknown) => refuse(error, response),
      );
    };

  return {
    [evaluationPath]: listenerOf(toSingle),
    [evaluationsPath]: listenerOf((text, members) => {
      const several = readEvaluations(text, members);
      return several ? { ...several, isSingle: false } : toSingle(text, members);
    }),
  };
}

/** Evaluates a request whose body has arrived, under its token. */
function createEvaluation({ verifyToken, ...options }: AuthzenOptions) {
  const decide = createDecider(options);

  return ({ request, response, body, signal }: Received, read: Read): Promise<object> => {
    const [requestId, fields, bearer] = [requestIdOf(response), fieldsOf(response), readBearer(request)];
    return withBearerToken(bearer, verifyToken, { requestId, fields, signal }, async (token) => {
      if (!token) throw unauthenticated(bearer.kind);
      if (!token.claims.scopes.includes('app')) throw forbidden();
      const { evaluations, semantic, isSingle } = await readInTurn(request, body, read);
      const decisions = await traced('decide', () => decide(evaluations, { token, requestId, signal, fields }));
      return isSingle ? (decisions[0] as Decision) : { evaluations: until(semantic, decisions) };
    });
  };
}

type Received = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
  readonly signal: AbortSignal;
};

/** Reads JSON that has so many members. */
type Read = (text: string, members: number) => Evaluations & { readonly isSingle: boolean };

const toSingle: Read = (text, members) => ({
  evaluations: [readEvaluation(text, members)],
  semantic: 'execute_all',
  isSingle: true,
});

/** Reads the body: a long one in a turn of its own. @throws {AuthzenError} 400 */
function readInTurn({ headers }: IncomingMessage, body: Buffer, read: Read) {
  if (!isJson(headers))
    throw new AuthzenError(400, 'Send the header Content-Type: application/json, and the body in UTF-8.');
  const { excess, costMs, members } = weighJson(body);
  if (excess !== null) throw new AuthzenError(413, `The body has ${excess}.`);
  const text = decodeUtf8(body);
  if (text === null) throw new AuthzenError(400, 'The body is not UTF-8.');
  return inTurnIfLong(costMs, () => read(text, members));
}

/** The decisions up to the one that ends the answer (AuthZEN section 7.1.2.1), inclusive. */
function until(semantic: Semantic, decisions: readonly Decision[]): readonly Decision[] {
  if (semantic === 'execute_all') return decisions;
  const last = decisions.findIndex(({ decision }) => decision === (semantic === 'permit_on_first_permit'));
  return last === -1 ? decisions : decisions.slice(0, last + 1);
}

type Sent = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly type: string;
  readonly body: string;
};

function send(response: ServerResponse, { status, headers = {}, type, body }: Sent): void {
  response.writeHead(status, {
    ...headers,
    'Content-Type': `${type}; charset=utf-8`,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
  });
  response.end(body);
}

const unauthenticated = (kind: Bearer['kind']) =>
  new AuthzenError(401, bearerProblems[kind], { 'WWW-Authenticate': bearerChallenge(kind) });

/** RFC 6750 section 3.1. */
const forbidden = () =>
  new AuthzenError(403, 'This needs an access token of an application with scope app.', {
    'WWW-Authenticate': 'Bearer realm="graph-query-service", error="insufficient_scope", scope="app"',
  });

/** The codes of the log, those of the graph. */
const codes: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  413: 'LIMIT_EXCEEDED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

/** @param maxBytes of a body */
function toRefusal(error: unknown, maxBytes: number): AuthzenError {
  if (error instanceof AuthzenError) return error;
  if (error instanceof InvalidTokenError) return unauthenticated('token');
  if (isRetryable(error)) {
    const message = hasMoved(error)
      ? 'The organization is being moved to another database; try again later.'
      : 'The database is not available; try again later.';
    return new AuthzenError(503, message, { 'Retry-After': '2' });
  }
  // The role of the token may not execute the function.
  if (hasCode(error, '42501')) return forbidden();
  // An error of body-parser has the status of the client's mistake.
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 500;
  if (status === 413) return new AuthzenError(413, `The body has more than ${maxBytes} bytes.`);
  if (status >= 400 && status < 500) return new AuthzenError(400, 'The body cannot be read.');
  return new AuthzenError(500, 'Something went wrong on our side; the log says more under the X-Request-Id.');
}

/**
 * `GET /.well-known/authzen-configuration` (AuthZEN section 9): where the policy decision point is asked.
 * Where its identifier has a path, clients look for the metadata with that path at the end.
 */
export function createMetadataRouter(url: string): Router {
  const metadata = {
    policy_decision_point: url,
    access_evaluation_endpoint: url + evaluationPath,
    access_evaluations_endpoint: url + evaluationsPath,
  };
  const router = Router();
  router
    .route([wellKnown, wellKnown + new URL(url).pathname.replace(/\/$/, '')])
    .get((_request, response) => void response.set('Cache-Control', 'max-age=600').json(metadata))
    .all((_request, response) => {
      response.status(405).set('Allow', 'GET, HEAD').type('text/plain').send('Ask for the metadata by GET.');
    });
  return router;
}

const wellKnown = '/.well-known/authzen-configuration';
export const evaluationPath = '/access/v1/evaluation';
const evaluationsPath = '/access/v1/evaluations';

/** A decision (AuthZEN section 5.5). */
type Decision = { readonly decision: boolean; readonly context: { readonly reason: string } };

type DeciderOptions = {
  readonly pool: Pool;
  /** Null when the primary answers every request. */
  readonly replica: ReplicaQueries | null;
};

type DecisionRequest = {
  readonly token: AccessToken;
  readonly requestId: RequestId;
  readonly signal: AbortSignal;
  readonly fields: RequestFields;
};

/**
 * Decides evaluations, all by one statement: the same function of SQL that `accessDecision` asks, under the policies of the token.
 * It runs on a replica where read-your-writes allows it, else on the primary. The service denies unknown actions and types without asking.
 */
function createDecider({ pool, replica }: DeciderOptions) {
  const ask = async (evaluations: readonly Evaluation[], { token, requestId, signal, fields }: DecisionRequest) => {
    const settings = graphSettings(token.claims, requestId, evaluations.length);
    const statement = { name: 'decide_access', text: statementText, values: valuesOf(evaluations) };
    fields.statements = 1;
    const lsns = replica?.requiredLsns(token, requestId) ?? null;
    if (replica && lsns) {
      try {
        const { rows } = await queryOnce<Row>(replica.pool, settings, statement, requireReplayed(lsns), signal);
        fields.server = 'replica';
        return rows;
      } catch (error) {
        if (signal.aborted || !isRetryableOnPrimary(error)) throw error;
      }
    }
    if (replica) fields.server = 'primary';
    const { rows } = await token.withTokenCheck((check) => queryOnce<Row>(pool, settings, statement, check, signal));
    return rows;
  };

  /** The decisions, in the order of the evaluations. */
  return async (evaluations: readonly Evaluation[], request: DecisionRequest): Promise<Decision[]> => {
    const supported = evaluations.filter(isSupported);
    const rows = supported.length > 0 ? await retryIfMigrated(() => ask(supported, request)) : [];
    const decided = rows.map(({ isAllowed, reason }) => ({ decision: isAllowed, context: { reason } }));
    return evaluations.map((one) => (isSupported(one) && decided.shift()) || unsupported);
  };
}

/** A migration may change a type of the statement while it is asked. Nothing was done, and prepared anew it fits. */
async function retryIfMigrated<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!isStalePlan(error) && !isMigratedMeanwhile(error)) throw error;
    return ask();
  }
}

type Row = { readonly isAllowed: boolean; readonly reason: string };

const unsupported: Decision = { decision: false, context: { reason: 'UNSUPPORTED' } };

/** The types of the graph whose ids name an entity of such a type. */
const typesOf: Readonly<Record<string, readonly string[]>> = {
  unit: ['Unit'],
  user: ['User'],
  card: ['BeaconCard', 'NfcCard', 'IdentificationCode'],
};

const isSupported = ({ subject, action, resource }: Evaluation) =>
  action === 'enter' && resource.type === 'unit' && (subject.type === 'user' || subject.type === 'card');

/**
 * An id may be an external identifier or an id of the graph.
 * Both are sent, and the function in SQL prefers the former.
 */
const statementText = `
  select d.is_allowed as "isAllowed", d.reason::text as reason
  from app_hidden.decide_access(array(
    select row (a.unit_id, a.unit_name, a.user_id, a.user_name, a.card_id, a.card_name, null, null, a.at)::app_hidden.access_question
    from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::uuid[], $6::text[], $7::timestamptz[])
      with ordinality as a (unit_id, unit_name, user_id, user_name, card_id, card_name, at, nth)
    order by a.nth)) as d`;

function valuesOf(evaluations: readonly Evaluation[]) {
  const idsAndNames = (type: string, entityOf: (evaluation: Evaluation) => Entity) => {
    const entities = evaluations.map(entityOf).map((entity) => (entity.type === type ? entity.id : null));
    return [entities.map((id) => keyOf(type, id)), entities];
  };
  return [
    ...idsAndNames('unit', ({ resource }) => resource),
    ...idsAndNames('user', ({ subject }) => subject),
    ...idsAndNames('card', ({ subject }) => subject),
    evaluations.map(({ at }) => at),
  ];
}

function keyOf(type: string, id: string | null): string | null {
  const [name = '', key, ...more] = decodeNodeId(id) ?? [];
  return typesOf[type]?.includes(name) && typeof key === 'string' && isUuid(key) && more.length === 0 ? key : null;
}
