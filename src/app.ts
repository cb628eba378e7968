import express, { type Express, type RequestHandler } from 'express';
import { answerNotFound, answerUnavailable, handleErrors } from './http/errors.ts';
import { answerHealth, answerReadiness, type Readiness } from './http/health.ts';
import { nameRequest } from './http/requestId.ts';
import { logRequests } from './http/requestLog.ts';
import type { Log } from './log.ts';

export type AppParts = {
  log: Log;
  /** How many reverse proxies in front are believed about the client's address. */
  trustedProxies: number;
  readiness: Readiness;
  /** What answers everything but the health checks, in this order; null while it cannot be built yet. */
  mounts: RequestHandler[] | null;
};

/** The way of a request, from top to bottom. */
export function createApp({ log, trustedProxies, readiness, mounts }: AppParts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('trust proxy', trustedProxies);
  app.set('etag', false);

  app.use(nameRequest);
  app.use(logRequests(log));
  app.get('/healthz', answerHealth);
  app.get('/readyz', answerReadiness(readiness));
  for (const mount of mounts ?? [answerUnavailable]) app.use(mount);
  app.use(answerNotFound);
  app.use(handleErrors(log));
  return app;
}
