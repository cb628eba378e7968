import type { RequestHandler } from 'express';

/** RFC 6749 section 5.1: no cache keeps a reply of an OAuth endpoint, errors included. */
export const noStore: RequestHandler = (_request, response, next) => {
  response.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
  next();
};
