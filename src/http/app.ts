import type { RequestListener } from 'node:http';
import express, { type RequestHandler } from 'express';
import type { Log } from '../log.ts';
import { fieldsOf } from '../observability/requestFields.ts';
import { answerNotFound, answerUnavailable, handleErrors } from './answerErrors.ts';
import {
  allowOrigins,
  answerHealth,
  answerReadiness,
  inOrder,
  logRequests,
  nameRequest,
  type Origin,
  type Readiness,
  setSecurityHeaders,
  traceRequests,
} from './middleware.ts';

type Options = {
  log: Log;
  trustedProxies: number;
  isHttps: boolean;
  corsOrigins: readonly Origin[];
  readiness: Readiness;
  /** Null until they are built. */
  routes: {
    /** The listeners of these routes, which bypass express. */
    direct: Readonly<Record<string, RequestListener>>;
    /** The handlers of all other requests except health checks, in this order. */
    mounts: RequestHandler[];
    /** A message for the operator while requests are served; null when there is none. */
    notice(): string | null;
  } | null;
};

/**
 * The middleware of a request, from top to bottom.
 * `/graphql` and decisions bypass express, which would take a tenth of such a request's time, and pass through the same middleware.
 */
export function createApp({ log, trustedProxies, isHttps, corsOrigins, readiness, routes }: Options): RequestListener {
  const first = [nameRequest, traceRequests, logRequests(log), setSecurityHeaders(isHttps)];
  const allow = allowOrigins(corsOrigins);

  const app = express();
  app.disable('x-powered-by');
  app.set('trust proxy', trustedProxies);
  app.set('etag', false);
  for (const handler of first) app.use(handler);
  app.get('/healthz', answerHealth);
  app.get(
    '/readyz',
    answerReadiness(readiness, () => routes?.notice() ?? null),
  );
  app.use(['/graphql', '/access', '/oauth', '/.well-known'], allow);
  for (const mount of routes?.mounts ?? [answerUnavailable]) app.use(mount);
  app.use(answerNotFound);
  app.use(handleErrors(log));
  if (!routes) return app;

  const direct = new Map(
    Object.entries(routes.direct).map(([route, answer]) => [route, inOrder([...first, allow, answer])]),
  );
  return (request, response) => (direct.get(fieldsOf(response).route ?? '') ?? app)(request, response);
}
