import type { RequestHandler } from 'express';
import { OAuthError } from './errors.ts';

/** A route's last handler: 405 with `Allow` for methods that no other took (RFC 9110 section 15.5.6). */
export function allowOnly(...methods: string[]): RequestHandler {
  const allow = methods.join(', ');
  return () => {
    throw new OAuthError('invalid_request', `The method is not supported here; use ${methods.join(' or ')}.`, {
      status: 405,
      headers: { Allow: allow },
    });
  };
}
