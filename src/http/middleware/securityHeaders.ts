import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';
import type { Handler } from './inOrder.ts';

/**
 * The security headers of every answer: nosniff, no frames, no referrer, and HSTS on https.
 * The Content-Security-Policy is each page's own.
 */
export function setSecurityHeaders(isHttps: boolean): Handler {
  const headers = securityHeaders(isHttps);
  return (_request, response, next) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    next();
  };
}

/** The headers of helmet, as a list: they are the same each time. */
export function securityHeaders(isHttps: boolean): readonly (readonly [name: string, value: string])[] {
  const set = helmet({
    contentSecurityPolicy: false,
    frameguard: { action: 'deny' },
    strictTransportSecurity: isHttps && { maxAge: 365 * 24 * 60 * 60 },
  });
  const headers: (readonly [string, string])[] = [];
  const recorder = {
    setHeader: (name: string, value: string) => headers.push([name, value]),
    removeHeader: () => undefined,
  };
  set({} as IncomingMessage, recorder as unknown as ServerResponse, () => undefined);
  return headers;
}
