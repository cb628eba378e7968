import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import cors from 'cors';
import type { RequestHandler } from 'express';
import helmet from 'helmet';
import type { Log } from '../log.ts';
import type { Metrics } from '../observability/metrics.ts';
import { fieldsOf, noRequest, type RequestFields, type RequestId } from '../observability/requestFields.ts';
import { tracer } from '../observability/traced.ts';
import { isOfAuthzen, pathOf } from './requestTarget.ts';

/** Answers a request, or prepares it for the next handler; a handler never fails. */
export type Handler = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

/** A chain of handlers (middleware): a request passes each in turn, and the last one answers. */
export function inOrder(handlers: readonly Handler[]): RequestListener {
  return (request, response) => {
    const pass = (index: number) => handlers[index]?.(request, response, () => pass(index + 1));
    pass(0);
  };
}

/** Correlation id: X-Request-Id, in each log line, and `graph.request_id` in each transaction. */
export function nameRequest(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  response.setHeader('X-Request-Id', giveRequestId(request, response));
  next();
}

/**
 * Sets the id, and returns the value of the answer's header, which the caller sets.
 * AuthZEN requires there what the client sent (section 10.1.3). In log and database such a request has an id of the server, unless the
 * client's is short and plain.
 */
export function giveRequestId(request: IncomingMessage, response: ServerResponse): string {
  const given = String(request.headers['x-request-id'] ?? '');
  const ofServer = randomUUID();
  const id = /^[\w.:-]{1,100}$/.test(given) ? given : ofServer;
  const fields = fieldsOf(response);
  fields.requestId = { id, ofServer };
  return isOfAuthzen(fields.route) && /^[!-~]{1,255}$/.test(given) ? given : id;
}

export const requestIdOf = (response: ServerResponse): RequestId => fieldsOf(response).requestId ?? noRequest;

/**
 * The canonical log line: one for each request, at its end.
 * The URL is logged as its path alone, since a query may hold a credential. The operation is logged as its name, cut to a readable length.
 */
export function logRequests(log: Log) {
  return (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    if (!log.isLevelEnabled('info')) {
      next();
      return;
    }
    const startedAt = performance.now();
    const { method, url = '' } = request;
    response.once('close', () => {
      const requestId = requestIdOf(response);
      const { operation, clientId, code, reason, statements, server, planningMs, isReplayed, traceId } =
        fieldsOf(response);
      const fields = {
        requestId,
        // The history refers to the request by this id, whatever id the client sent.
        serverRequestId: requestId.ofServer === requestId.id ? undefined : requestId.ofServer,
        method,
        path: pathOf(url),
        status: response.statusCode,
        durationMs: Math.round(performance.now() - startedAt),
        operation: operation?.slice(0, 100),
        clientId,
        code,
        reason,
        statements,
        server,
        isReplayed,
        planningMs: planningMs === undefined ? undefined : Math.round(planningMs),
        traceId,
      };
      log.info(fields, response.writableFinished ? 'request' : 'request ended by the client');
    });
    next();
  };
}

/** Counts each request at its end, by its fields. */
export function measureRequests(metrics: Metrics, routeOf: (url: string) => string) {
  return (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    const startedAt = performance.now();
    const fields = fieldsOf(response);
    const route = routeOf(request.url ?? '');
    fields.route = route;
    metrics.requestsInFlight.inc();
    response.once('close', () => {
      const seconds = (performance.now() - startedAt) / 1000;
      const isSent = response.writableFinished;
      metrics.requestsInFlight.dec();
      // A stream is open for as long as its client wants.
      if (fields.operationType !== 'subscription')
        metrics.requestDuration.observe({ route, status: isSent ? response.statusCode : 'aborted' }, seconds);
      const status = isSent ? response.statusCode : null;
      if (route === '/graphql') measureOperation(metrics, fields, status, seconds);
      else if (route.startsWith('/oauth')) measureOauth(metrics, fields, status);
      if (fields.server !== undefined) metrics.queries.inc({ server: fields.server });
    });
    next();
  };
}

/** @param status null when the client did not wait for the end of the answer */
function measureOperation(metrics: Metrics, fields: RequestFields, status: number | null, seconds: number): void {
  const code = fields.code ?? codeOf(status);
  // Such as a CORS preflight.
  if (code === 'OK' && fields.operation === undefined) return;
  // Introspection without a token may have any name.
  const operation = metrics.labelOf(fields.operation, code === 'OK' && fields.clientId !== undefined);
  metrics.operations.inc({ operation, code });
  if (fields.statements === undefined) return;
  metrics.operationDuration.observe({ operation }, seconds);
  metrics.statements.observe({ operation }, fields.statements);
  if (fields.planningMs !== undefined) metrics.planning.observe(fields.planningMs / 1000);
}

/** The code of a request that was refused before it was parsed. */
function codeOf(status: number | null): string {
  if (status === null) return 'ABORTED';
  if (status === 503) return 'UNAVAILABLE';
  if (status >= 500) return 'INTERNAL';
  return status >= 400 ? 'BAD_USER_INPUT' : 'OK';
}

function measureOauth(metrics: Metrics, fields: RequestFields, status: number | null): void {
  const code = fields.code ?? (status === 503 ? 'temporarily_unavailable' : undefined);
  if (code !== undefined) metrics.refusals.inc({ code });
  else if (fields.grant !== undefined && status === 200) metrics.grants.inc({ grant: fields.grant });
}

/**
 * A server span for each request, below the client's own if it sends one (W3C Trace Context).
 * It is named by OpenTelemetry's conventions for HTTP. The URL is recorded only as a path that is served.
 */
export function traceRequests(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const { method = '', headers } = request;
  const fields = fieldsOf(response);
  const { route = 'other' } = fields;
  const parent = propagation.extract(ROOT_CONTEXT, headers);
  const attributes = { 'http.request.method': method, 'http.route': route };
  const span = tracer.startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, parent);
  if (!span.isRecording()) {
    next();
    return;
  }

  fields.traceId = span.spanContext().traceId;
  response.once('close', () => {
    const { operation, operationType, clientId, code } = fields;
    const known = {
      'http.response.status_code': response.statusCode,
      'graphql.operation.name': operation,
      'graphql.operation.type': operationType,
      'graph.client_id': clientId,
      'graph.request_id': requestIdOf(response).id,
      'error.type': code,
    };
    for (const [name, value] of Object.entries(known)) if (value !== undefined) span.setAttribute(name, value);
    if (response.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  });
  context.with(trace.setSpan(parent, span), next);
}

/**
 * The security headers of every answer: nosniff, no frames, no referrer, and HSTS on https.
 * The Content-Security-Policy is each page's own.
 */
export function setSecurityHeaders(isHttps: boolean): Handler {
  const headers = securityHeaders(isHttps);
  return (_request, response, next) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    next();
  };
}

/** The headers of helmet, as a list: they are the same each time. */
export function securityHeaders(isHttps: boolean): readonly (readonly [name: string, value: string])[] {
  const set = helmet({
    contentSecurityPolicy: false,
    frameguard: { action: 'deny' },
    strictTransportSecurity: isHttps && { maxAge: 365 * 24 * 60 * 60 },
  });
  const headers: (readonly [string, string])[] = [];
  const recorder = {
    setHeader: (name: string, value: string) => headers.push([name, value]),
    removeHeader: () => undefined,
  };
  set({} as IncomingMessage, recorder as unknown as ServerResponse, () => undefined);
  return headers;
}

export const exposedHeaders = ['Idempotency-Replayed', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'];

/** The origin of a page, or a pattern of origins. */
export type Origin = string | RegExp;

/** Whether {@link allowOrigins} allows an origin. */
export const isAllowed = (origins: readonly Origin[], origin: string) =>
  origins.some((allowed) => (typeof allowed === 'string' ? allowed === origin : allowed.test(origin)));

/**
 * CORS: pages of these origins may call the API, without cookies, since only the token counts.
 * They may send any header, such as those of tracing and of their GraphQL client, since any other client may.
 * Without origins no header is sent, and browsers keep other pages out.
 */
export function allowOrigins(origins: readonly Origin[]): Handler {
  if (origins.length === 0) return (_request, _response, next) => next();
  return cors({
    origin: [...origins],
    methods: ['GET', 'POST', 'DELETE'],
    exposedHeaders,
    maxAge: 600,
  });
}

/** Why the service cannot serve now, in words for an operator; null when it can. */
export type Readiness = () => Promise<string | null>;

/** Liveness, `GET /healthz`: it ignores the database, since an outage would restart every server. */
export const answerHealth: RequestHandler = (_request, response) => {
  response.set('Cache-Control', 'no-store').json({ status: 'ok' });
};

/**
 * Readiness, `GET /readyz`: 200 when requests can be served, else 503 with the reason.
 *
 * @param notice what an operator should know though requests are served
 */
export function answerReadiness(readiness: Readiness, notice: () => string | null): RequestHandler {
  return async (_request, response) => {
    const reason = await readiness();
    response.set('Cache-Control', 'no-store');
    if (reason === null) response.json({ status: 'ready', notice: notice() ?? undefined });
    else response.status(503).json({ status: 'unavailable', reason });
  };
}
