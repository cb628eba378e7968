import connectPgSimple from 'connect-pg-simple';
import session, { type SessionData } from 'express-session';
import type { Pool } from 'pg';
import { noRequest } from '../../observability/requestFields.ts';
import { hashToken } from '../../token/format.ts';
import { requireOwnService } from '../../token/requireOwnService.ts';
import { oauthSettings } from '../../token/settings.ts';
import { queryOnce } from '../../token/transaction.ts';
import { lifetimes } from '../lifetimes.ts';

const PostgresStore = connectPgSimple(session);

/**
 * Sessions in PostgreSQL, by connect-pg-simple, with two additions.
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
    this.#storeOf(id).get(storedId(id), done);
  }

  override set(id: string, data: SessionData, done?: (error?: unknown) => void): void {
    this.#storeOf(id).set(storedId(id), data, done);
  }

  override destroy(id: string, done?: (error?: unknown) => void): void {
    this.#storeOf(id).destroy(storedId(id), done);
  }

  #storeOf(id: string) {
    const settings = oauthSettings(organizationOf(id), noRequest);
    const query = (text: string, values: unknown[]) =>
      queryOnce(this.#pool, settings, { text, values }, requireOwnService);
    return new PostgresStore({
      // connect-pg-simple calls only this method.
      pool: { query } as Pick<Pool, 'query'> as Pool,
      schemaName: 'oauth',
      tableName: 'sessions',
      pruneSessionInterval: false,
      ttl: lifetimes.sessionSeconds,
    });
  }
}

export const organizationOf = (id: string): string => id.split('.', 1)[0] ?? '';

/** The id of a session in the database. */
export const storedId = (id: string): string => hashToken(id).toString('base64url');
