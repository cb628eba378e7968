import type { IncomingMessage, ServerResponse } from 'node:http';
import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { tracer } from '../tracing/traced.ts';
import { factsOf } from './facts.ts';
import { requestIdOf } from './requestId.ts';
import { routeOf } from './routeOf.ts';

/**
 * Makes each request a span, below that of a caller who sends one along (W3C Trace Context), and what it does a part of it. Named by
 * OpenTelemetry's conventions for HTTP; of the URL only a path that is served is told.
 */
export function traceRequests(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const { method = '', headers, url = '' } = request;
  const route = routeOf(url);
  const parent = propagation.extract(ROOT_CONTEXT, headers);
  const attributes = { 'http.request.method': method, 'http.route': route };
  const span = tracer.startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, parent);
  if (!span.isRecording()) {
    next();
    return;
  }

  const facts = factsOf(response);
  facts.traceId = span.spanContext().traceId;
  response.once('close', () => {
    const { operation, operationType, clientId, code } = facts;
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
