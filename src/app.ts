import express, { type Express, type RequestHandler } from 'express';
import { allowOrigins } from './http/allowOrigins.ts';
import { answerNotFound, answerUnavailable, handleErrors } from './http/errors.ts';
import { answerHealth, answerReadiness, type Readiness } from './http/health.ts';
import { nameRequest } from './http/requestId.ts';
import { logRequests } from './http/requestLog.ts';
import { setSecurityHeaders } from './http/securityHeaders.ts';
import { traceRequests } from './http/traceRequests.ts';
import type { Log } from './log.ts';

export type AppParts = {
  log: Log;
  /** How many reverse proxies in front are believed about the client's address. */
  trustedProxies: number;
  /** Whether clients come by https. */
  isHttps: boolean;
  /** Origins of pages that may call the API from a browser. */
  corsOrigins: readonly string[];
  readiness: Readiness;
  /** What answers everything but the health checks, in this order; null while it cannot be built yet. */
  mounts: RequestHandler[] | null;
};

/** The way of a request, from top to bottom. */
export function createApp({ log, trustedProxies, isHttps, corsOrigins, readiness, mounts }: AppParts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('trust proxy', trustedProxies);
  app.set('etag', false);

  app.use(nameRequest);
  app.use(traceRequests);
  app.use(logRequests(log));
  app.use(setSecurityHeaders(isHttps));
  app.get('/healthz', answerHealth);
  app.get('/readyz', answerReadiness(readiness));
  app.use(['/graphql', '/oauth', '/.well-known'], allowOrigins(corsOrigins));
  for (const mount of mounts ?? [answerUnavailable]) app.use(mount);
  app.use(answerNotFound);
  app.use(handleErrors(log));
  return app;
}
