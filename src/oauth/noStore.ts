import type { RequestHandler } from 'express';

/** RFC 6749 section 5.1: no reply of an OAuth endpoint is kept by anybody, errors included. */
export const noStore: RequestHandler = (_request, response, next) => {
  response.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
  next();
};
