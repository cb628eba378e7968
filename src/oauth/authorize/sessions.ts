import { randomBytes } from 'node:crypto';
import { callbackify, promisify } from 'node:util';
import type { Request, RequestHandler } from 'express';
import session, { type SessionData } from 'express-session';
import type { Pool } from 'pg';
import { subkey } from '../../crypto/secrets.ts';
import { requestIdOf } from '../../http/middleware.ts';
import { noRequest, type RequestId } from '../../observability/requestFields.ts';
import { hashToken, requireOwnService } from '../../token/accessTokens.ts';
import type { Scope } from '../../token/scopes.ts';
import { oauthSettings } from '../../token/settings.ts';
import { queryOnce } from '../../token/transaction.ts';
import type { Application } from '../client.ts';
import { inOrganization } from '../inOrganization.ts';
import { lifetimes } from '../lifetimes.ts';

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

/**
 * Sessions in PostgreSQL, which end by its clock.
 * Each statement runs in the organization of the session, with which its id begins, so that row-level security applies, if it is served
 * here. The id is stored as its SHA-256, so that a leaked row opens no session.
 */
class SessionStore extends session.Store {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    super();
    this.#pool = pool;
  }

  override get(id: string, done: (error: unknown, found?: SessionData | null) => void): void {
    const text = 'select sess from oauth.sessions where sid = $1 and expire > statement_timestamp()';
    callbackify(() => this.#query(id, text))(done);
  }

  override set(id: string, data: SessionData, done: (error?: unknown) => void = () => undefined): void {
    const text = `
      insert into oauth.sessions (sid, sess, expire) values ($1, $2, statement_timestamp() + make_interval(secs => $3))
      on conflict (sid) do update set sess = excluded.sess, expire = excluded.expire`;
    callbackify(() => this.#query(id, text, data, lifetimes.sessionSeconds))(done);
  }

  override destroy(id: string, done: (error?: unknown) => void = () => undefined): void {
    callbackify(() => this.#query(id, 'delete from oauth.sessions where sid = $1'))(done);
  }

  async #query(id: string, text: string, ...more: unknown[]): Promise<SessionData | null> {
    const statement = { text, values: [storedId(id), ...more] };
    const settings = oauthSettings(organizationOf(id), noRequest);
    const { rows } = await queryOnce<{ sess: SessionData }>(this.#pool, settings, statement, requireOwnService);
    return rows[0]?.sess ?? null;
  }
}

const organizationOf = (id: string): string => id.split('.', 1)[0] ?? '';

/** The id of a session in the database. */
export const storedId = (id: string): string => hashToken(id).toString('base64url');

/** A valid authorization request (RFC 6749 section 4.1.1). */
export type Authorization = ReplyTo & {
  readonly application: Application;
  readonly scopes: readonly Scope[];
  /** RFC 7636, method S256. */
  readonly codeChallenge: string;
  /** The same request as a query, for the forms of its pages and for the way back to it. */
  readonly query: string;
};

/** The request that `readAuthorization` has set. */
export function requireAuthorization({ oauthAuthorization }: Request): Authorization {
  if (!oauthAuthorization) throw new Error('readAuthorization did not run');
  return oauthAuthorization;
}

/** The client's redirect URI, and the `state` to send back to it. */
export type ReplyTo = { readonly redirectUri: string; readonly state: string | undefined };
