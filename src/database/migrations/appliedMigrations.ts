import type { ClientBase, Pool } from 'pg';
import { type CommittedMigration, readCommitted } from './committedMigrations.ts';

/** A migration that the database has run: its file's number, such as `000023.sql`, and its hash. */
export type AppliedMigration = { readonly filename: string; readonly hash: string };

/** The migrations that graphile-migrate has recorded; none if it never ran. */
export async function readApplied(owner: ClientBase | Pool): Promise<AppliedMigration[]> {
  const { rows } = await owner.query(`select from pg_class where oid = to_regclass('graphile_migrate.migrations')`);
  if (rows.length === 0) return [];
  return (await owner.query<AppliedMigration>('select filename, hash from graphile_migrate.migrations')).rows;
}

/** The first file whose number the database has run with another text, of another branch or version. */
export const findOther = (
  files: readonly CommittedMigration[],
  applied: readonly AppliedMigration[],
): CommittedMigration | undefined =>
  files.find((file) => applied.some(({ filename, hash }) => filename === file.number && hash !== file.hash));

/**
 * Says which migrations the database has run that this version does not have, in words for an operator; null when there is none.
 * The database serves this version nevertheless, while servers are replaced by newer ones, and after going back to older ones.
 */
export async function readAhead(owner: ClientBase | Pool): Promise<string | null> {
  const known = new Set((await readCommitted()).map(({ number }) => number));
  const ahead = (await readApplied(owner)).map(({ filename }) => filename).filter((number) => !known.has(number));
  if (ahead.length === 0) return null;
  return `The database has every migration of this version, and ${ahead.sort().join(', ')} of a newer one.`;
}
