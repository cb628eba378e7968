import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request, Response } from 'express';
import { subkey } from '../../secrets.ts';
import { hashToken } from '../../token/format.ts';
import { OAuthError } from '../errors.ts';
import { cookieName } from './sessions.ts';

/**
 * Ties the forms for signing in and out to the browser that was given them: what a form carries is a keyed hash of a
 * cookie. Nothing is stored, since everybody may open the sign-in page. The question of consent has a token of its own.
 */
export type AntiForgery = {
  /** The token for a form in the answer to this request; gives the browser its cookie if it has none. */
  tokenFor(request: Request, response: Response): string;
  /** @throws {OAuthError} 403 */
  verify(request: Request, token: string | undefined): void;
};

export function createAntiForgery(key: Buffer, url: string): AntiForgery {
  const isHttps = url.startsWith('https:');
  const name = cookieName('browser', isHttps);
  const tokenKey = subkey(key, 'anti-forgery token');
  const pattern = new RegExp(`(?:^|;\\s*)${name}=([\\w-]{43})(?:;|$)`);
  const browserOf = (request: Request) => pattern.exec(request.headers.cookie ?? '')?.[1];
  const hash = (browser: string) => createHmac('sha256', tokenKey).update(browser).digest('base64url');

  return {
    tokenFor: (request, response) => {
      const known = browserOf(request);
      if (known !== undefined) return hash(known);
      const browser = randomBytes(32).toString('base64url');
      response.cookie(name, browser, { httpOnly: true, sameSite: 'lax', secure: isHttps, path: '/' });
      return hash(browser);
    },
    verify: (request, token = '') => {
      const browser = browserOf(request);
      if (browser === undefined || !isSame(token, hash(browser))) throw notAsked();
    },
  };
}

/** A form that we did not show to this person, showed too long ago, or that was answered already. */
export const notAsked = () =>
  new OAuthError('invalid_request', 'csrf_token is missing, was given to somebody else, has expired or was used.', {
    status: 403,
  });

/** Of texts of any length, in a time that says nothing of where they differ. */
const isSame = (one: string, other: string) => timingSafeEqual(hashToken(one), hashToken(other));
