import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Metrics } from '../../observability/metrics/createMetrics.ts';
import { fieldsOf, type RequestFields } from '../../observability/requestFields.ts';

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
