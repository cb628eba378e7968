import cors from 'cors';
import type { Handler } from './inOrder.ts';

export const exposedHeaders = ['Retry-After', 'WWW-Authenticate', 'X-Request-Id'];

/**
 * CORS: pages of these origins may call the API, without cookies, since only the token counts.
 * Without origins no header is sent, and browsers keep other pages out.
 */
export function allowOrigins(origins: readonly string[]): Handler {
  if (origins.length === 0) return (_request, _response, next) => next();
  return cors({
    origin: [...origins],
    methods: ['GET', 'POST', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', 'Accept', 'X-Request-Id'],
    exposedHeaders,
    maxAge: 600,
  });
}
