import type { RequestHandler } from 'express';
import { compressed } from './compressed.ts';

/**
 * Answers with a page under its own Content-Security-Policy, uncached: it may hold a credential.
 *
 * @param page or what renders it, at its first request
 */
export function sendPage(page: string | (() => string), policy: string): RequestHandler {
  const send = compressed('html', async () => Buffer.from(typeof page === 'string' ? page : page()));
  return async (request, response) => {
    response.set({ 'Cache-Control': 'no-store', 'Content-Security-Policy': policy });
    await send(request, response);
  };
}
