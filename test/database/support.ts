import { Pool } from 'pg';
import { oauthSettings } from '../../src/token/settings.ts';
import { inTransaction } from '../../src/token/transaction.ts';

export const requestRoles = ['graph_app', 'graph_user', 'graph_basic', 'graph_oauth'] as const;
export type RequestRole = (typeof requestRoles)[number];

/** What a transaction claims to be; an absent claim is `''`. */
export type Claims = { organization?: string; application?: string; user?: string };

/** What a statement did: its rows and their number, or the SQLSTATE with which it was refused. */
export type Outcome = { rows: Record<string, unknown>[]; count: number } | { refused: string };

/** Statements as a running server sends them: by the authenticator, in a role, under claims. Each is rolled back. */
export function createRequests(authUrl: string) {
  const pool = new Pool({ connectionString: authUrl, max: 4 });

  async function attempt(
    role: RequestRole,
    claims: Claims,
    statement: string,
    values: unknown[] = [],
  ): Promise<Outcome> {
    const settings = {
      ...oauthSettings(claims.organization ?? null, 'test'),
      role,
      'graph.application_id': claims.application ?? '',
      'graph.user_id': claims.user ?? '',
    };
    try {
      await inTransaction(pool, settings, async (client) => {
        const { rows, rowCount } = await client.query(statement, values);
        throw new Undo({ rows, count: rowCount ?? 0 });
      });
    } catch (error) {
      if (error instanceof Undo) return error.outcome;
      const { code = '' } = error as { code?: string };
      // Insufficient privilege and broken rules are answers; everything else is a mistake in the test.
      if (code === '42501' || code.startsWith('23')) return { refused: code };
      throw error;
    }
    throw new Error('unreachable: the transaction is always undone');
  }

  return { attempt, end: () => pool.end() };
}

class Undo extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super('undo');
    this.outcome = outcome;
  }
}
