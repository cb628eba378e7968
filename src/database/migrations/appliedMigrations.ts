import type { ClientBase, Pool } from 'pg';
import type { CommittedMigration } from './committedMigrations.ts';

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
