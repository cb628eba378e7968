import helmet from 'helmet';
import type { Handler } from './inOrder.ts';

/**
 * What every answer tells a browser: take the content type as it is, show it in no frame, send no referrer, and on https
 * come back by https only. The Content-Security-Policy is each page's own.
 */
export function setSecurityHeaders(isHttps: boolean): Handler {
  return helmet({
    contentSecurityPolicy: false,
    frameguard: { action: 'deny' },
    strictTransportSecurity: isHttps && { maxAge: 365 * 24 * 60 * 60 },
  });
}
