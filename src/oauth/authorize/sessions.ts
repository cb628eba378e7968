import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type { Request, RequestHandler } from 'express';
import session from 'express-session';
import type { Pool } from 'pg';
import { subkey } from '../../crypto/secrets.ts';
import { requestIdOf } from '../../http/middleware.ts';
import type { RequestId } from '../../observability/requestFields.ts';
import { inOrganization } from '../inOrganization.ts';
import { requireAuthorization } from './readAuthorization.ts';
import { organizationOf, SessionStore } from './sessionStore.ts';

declare module 'express-session' {
  interface SessionData {
    userId: string;
  }
}

export type Person = { readonly id: string; readonly fullName: string; readonly email: string };

/**
 * Reads the signed-in person, one person of one organization, from the session.
 * An application of another organization sees no sign-in. A session lasts from sign-in to sign-out, or as long as `lifetimes` says (the
 * cookie until the browser is closed). None exists before the sign-in, so that strangers fill no table.
 */
export function createSessions(pool: Pool, keys: readonly Buffer[], url: string): RequestHandler[] {
  const isHttps = url.startsWith('https:');
  return [
    // PUBLIC_URL applies to every request, even if a proxy in front does not forward the scheme.
    (request, _response, next) => {
      Object.defineProperty(request, 'secure', { value: isHttps });
      next();
    },
    session({
      name: cookieName('session', isHttps),
      secret: keys.map((key) => subkey(key, 'session cookie').toString('base64url')),
      store: new SessionStore(pool),
      genid: (request) => `${requireAuthorization(request).application.organizationId}.${randomId()}`,
      cookie: { httpOnly: true, sameSite: 'lax', secure: isHttps, path: '/' },
      resave: false,
      saveUninitialized: false,
    }),
    async (request, response, next) => {
      const { organizationId } = requireAuthorization(request).application;
      const { userId } = request.session;
      const isOurs = userId !== undefined && organizationOf(request.sessionID) === organizationId;
      request.oauthPerson = isOurs ? await findPerson(pool, organizationId, userId, requestIdOf(response)) : null;
      next();
    },
  ];
}

/** Regenerates the session's id: an attacker may have set the one before (session fixation). */
export async function beginSession(request: Request, userId: string): Promise<void> {
  await promisify(request.session.regenerate).call(request.session);
  request.session.userId = userId;
  await promisify(request.session.save).call(request.session);
}

export const endSession = ({ session }: Request): Promise<void> => promisify(session.destroy).call(session);

/** Prefixes a cookie's name, so that no other host of a domain can set it (RFC 6265bis 4.1.3.2). */
export const cookieName = (name: string, isHttps: boolean) => `${isHttps ? '__Host-' : ''}gqs_${name}`;

const randomId = () => randomBytes(32).toString('base64url');

async function findPerson(
  pool: Pool,
  organizationId: string,
  userId: string,
  requestId: RequestId,
): Promise<Person | null> {
  const { rows } = await inOrganization(pool, organizationId, requestId, (database) =>
    database.query<Person>({
      name: 'find_person',
      text: `
        select u.id, u.full_name as "fullName", u.email
        from app_public.users u
        where u.id = $1
          and not exists (select from oauth.credentials c where c.user_id = u.id and c.disabled_at is not null)`,
      values: [userId],
    }),
  );
  return rows[0] ?? null;
}
