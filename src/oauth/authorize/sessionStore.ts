import { callbackify } from 'node:util';
import session, { type SessionData } from 'express-session';
import type { Pool } from 'pg';
import { noRequest } from '../../observability/requestFields.ts';
import { hashToken } from '../../token/format.ts';
import { requireOwnService } from '../../token/requireOwnService.ts';
import { oauthSettings } from '../../token/settings.ts';
import { queryOnce } from '../../token/transaction.ts';
import { lifetimes } from '../lifetimes.ts';

/**
 * Sessions in PostgreSQL, which end by its clock.
 * Each statement runs in the organization of the session, with which its id begins, so that row-level security applies, if it is served
 * here. The id is stored as its SHA-256, so that a leaked row opens no session.
 */
export class SessionStore extends session.Store {
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

export const organizationOf = (id: string): string => id.split('.', 1)[0] ?? '';

/** The id of a session in the database. */
export const storedId = (id: string): string => hashToken(id).toString('base64url');
