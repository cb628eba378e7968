import type { IncomingMessage, ServerResponse } from 'node:http';
import { factsOf, type RequestFacts } from '../http/facts.ts';
import { routeOf } from '../http/routeOf.ts';
import type { Metrics } from './createMetrics.ts';

/** Counts each request when it is over, by what was learned about it. */
export function measureRequests(metrics: Metrics) {
  return (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    const startedAt = performance.now();
    const route = routeOf(request.url ?? '');
    metrics.requestsInFlight.inc();
    response.once('close', () => {
      const seconds = (performance.now() - startedAt) / 1000;
      const isSent = response.writableFinished;
      metrics.requestsInFlight.dec();
      metrics.requestDuration.observe({ route, status: isSent ? response.statusCode : 'aborted' }, seconds);
      const facts = factsOf(response);
      if (route === '/graphql') measureOperation(metrics, facts, isSent ? 'OK' : 'ABORTED', seconds);
      else if (route.startsWith('/oauth')) measureOauth(metrics, facts, response.statusCode);
    });
    next();
  };
}

function measureOperation(metrics: Metrics, facts: RequestFacts, otherwise: string, seconds: number): void {
  const code = facts.code ?? otherwise;
  const operation = metrics.labelOf(facts.operation, code === 'OK');
  metrics.operations.inc({ operation, code });
  if (facts.statements === undefined) return;
  metrics.operationDuration.observe({ operation }, seconds);
  metrics.statements.observe({ operation }, facts.statements);
  if (facts.planningMs !== undefined) metrics.planning.observe(facts.planningMs / 1000);
}

function measureOauth(metrics: Metrics, { grant, code }: RequestFacts, status: number): void {
  if (code !== undefined) metrics.refusals.inc({ code });
  else if (grant !== undefined && status === 200) metrics.grants.inc({ grant });
}
