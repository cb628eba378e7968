import type { RequestHandler } from 'express';
import { compressed } from './compressed.ts';

/** Answers with a page under its own Content-Security-Policy, uncached: it may hold a credential. */
export function sendPage(page: string, policy: string): RequestHandler {
  const send = compressed('html', async () => Buffer.from(page));
  return async (request, response) => {
    response.set({ 'Cache-Control': 'no-store', 'Content-Security-Policy': policy });
    await send(request, response);
  };
}
