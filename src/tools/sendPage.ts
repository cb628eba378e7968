import type { RequestHandler } from 'express';
import { compressed } from './compressed.ts';

/** Answers with a page and the headers that keep it to itself. */
export function sendPage(page: string, policy: string): RequestHandler {
  const send = compressed('text/html; charset=utf-8', async () => Buffer.from(page));
  return async (request, response) => {
    response.set({
      'Cache-Control': 'no-store',
      'Content-Security-Policy': policy,
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Resource-Policy': 'same-origin',
    });
    await send(request, response);
  };
}
