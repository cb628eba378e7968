import helmet from 'helmet';
import type { Handler } from './inOrder.ts';

/**
 * The security headers of every answer: nosniff, no frames, no referrer, and HSTS on https.
 * The Content-Security-Policy is each page's own.
 */
export function setSecurityHeaders(isHttps: boolean): Handler {
  return helmet({
    contentSecurityPolicy: false,
    frameguard: { action: 'deny' },
    strictTransportSecurity: isHttps && { maxAge: 365 * 24 * 60 * 60 },
  });
}
