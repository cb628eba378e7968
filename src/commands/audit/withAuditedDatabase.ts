import type { Pool } from 'pg';
import type { Config } from '../../config.ts';
import { withDatabase } from '../../database/openDatabase.ts';
import { StartupError } from '../../errors/errors.ts';

/** The audited database, which has the schema `audit`. */
export type AuditedDatabase = { pool: Pool; url: string };

/** The text to print, and how many findings it has. */
export type Answer = { text: string; findings: number };

/**
 * Opens the audited database, whether or not the service runs, and closes it afterwards.
 *
 * @throws {StartupError} when it is unavailable, lacks the schema, or rejects the question
 */
export async function withAuditedDatabase<T>(
  config: Config,
  ask: (database: AuditedDatabase) => Promise<T>,
): Promise<T> {
  return withDatabase(config, async (pool, url) => {
    try {
      const { rows } = await pool.query("select to_regclass('audit.matrix') is not null as present");
      if (!rows[0]?.present) throw new StartupError('The database lacks migrations; run `npm run db:migrate` first.');
      return await ask({ pool, url });
    } catch (error) {
      throw asRefusal(error);
    }
  });
}

/**
 * PostgreSQL's rejection of the question, with its hint.
 * No such row or principal (P0002, P0003, 22023), a key of another type (class 22), no such table (42P01, 3F000, 42602).
 */
function asRefusal(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const code = String(error.code);
  if (!/^(P000[23]|22...|42P01|42602|3F000)$/.test(code)) return error;
  const given = 'hint' in error && typeof error.hint === 'string' ? error.hint : undefined;
  const hint = given ?? (/^2200[78]$/.test(code) ? timeHint : undefined);
  return new StartupError(hint === undefined ? error.message : `${error.message}\n${hint}`);
}

/** PostgreSQL has none for a text that is no time (22007), or no time that there is (22008). */
const timeHint = 'Write a time such as 2026-11-21, 2026-11-21T08:00:00+01:00, today or yesterday.';
