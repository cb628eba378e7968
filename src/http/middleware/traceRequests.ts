import type { IncomingMessage, ServerResponse } from 'node:http';
import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { fieldsOf } from '../../observability/requestFields.ts';
import { tracer } from '../../observability/tracing/traced.ts';
import { requestIdOf } from './requestId.ts';

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
