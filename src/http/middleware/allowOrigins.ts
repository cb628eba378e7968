import cors from 'cors';
import type { Handler } from './inOrder.ts';

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
