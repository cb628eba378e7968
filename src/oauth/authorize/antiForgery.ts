import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request, Response } from 'express';
import { subkey } from '../../crypto/secrets.ts';
import { hashToken } from '../../token/format.ts';
import { OAuthError } from '../errors.ts';
import { cookieName } from './sessions.ts';

/**
 * Signed double-submit cookie against CSRF, for the forms that sign in and out.
 * A form carries a keyed hash of the browser's cookie. Nothing is stored, since every client may open the sign-in page. The consent
 * screen has its own one-time token.
 */
export function createAntiForgery(key: Buffer, url: string) {
  const isHttps = url.startsWith('https:');
  const name = cookieName('browser', isHttps);
  const tokenKey = subkey(key, 'anti-forgery token');
  const pattern = new RegExp(`(?:^|;\\s*)${name}=([\\w-]{43})(?:;|$)`);
  const browserOf = (request: Request) => pattern.exec(request.headers.cookie ?? '')?.[1];
  const hash = (browser: string) => createHmac('sha256', tokenKey).update(browser).digest('base64url');

  return {
    /** The token for a form in the answer to this request; gives the browser its cookie if it has none. */
    tokenFor(request: Request, response: Response): string {
      const known = browserOf(request);
      if (known !== undefined) return hash(known);
      const browser = randomBytes(32).toString('base64url');
      response.cookie(name, browser, { httpOnly: true, sameSite: 'lax', secure: isHttps, path: '/' });
      return hash(browser);
    },
    /** @throws {OAuthError} 403 */
    verify(request: Request, token = ''): void {
      const browser = browserOf(request);
      if (browser === undefined) throw invalidCsrfToken('the browser has no cookie');
      if (!isSame(token, hash(browser))) throw invalidCsrfToken('csrf_token is missing or of another browser');
    },
  };
}

export type AntiForgery = ReturnType<typeof createAntiForgery>;

/** The form was not shown to this session, was shown too long ago, or was submitted already. */
export const invalidCsrfToken = (reason: string) =>
  new OAuthError('invalid_request', 'csrf_token is missing, was given to another session, has expired or was used.', {
    status: 403,
    reason,
  });

/** Compares texts of any length, in a time that does not show where they differ. */
const isSame = (one: string, other: string) => timingSafeEqual(hashToken(one), hashToken(other));
