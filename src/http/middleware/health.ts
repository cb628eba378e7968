import type { RequestHandler } from 'express';

/** Why the service cannot serve now, in words for an operator; null when it can. */
export type Readiness = () => Promise<string | null>;

/** Liveness, `GET /healthz`: it ignores the database, since an outage would restart every server. */
export const answerHealth: RequestHandler = (_request, response) => {
  response.set('Cache-Control', 'no-store').json({ status: 'ok' });
};

/** Readiness, `GET /readyz`: 200 when requests can be served, else 503 with the reason. */
export function answerReadiness(readiness: Readiness): RequestHandler {
  return async (_request, response) => {
    const reason = await readiness();
    response.set('Cache-Control', 'no-store');
    if (reason === null) response.json({ status: 'ready' });
    else response.status(503).json({ status: 'unavailable', reason });
  };
}
