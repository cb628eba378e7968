import type { RequestHandler } from 'express';

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
