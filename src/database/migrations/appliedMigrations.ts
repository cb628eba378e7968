import type { ClientBase } from 'pg';

/** What the database has run: the number of a migration's file, such as `000023.sql`, and its hash. */
export type AppliedMigration = { readonly filename: string; readonly hash: string };

/** Those that graphile-migrate has recorded; none where it never ran. */
export async function readApplied(owner: ClientBase): Promise<AppliedMigration[]> {
  const { rows } = await owner.query(`select from pg_class where oid = to_regclass('graphile_migrate.migrations')`);
  if (rows.length === 0) return [];
  return (await owner.query<AppliedMigration>('select filename, hash from graphile_migrate.migrations')).rows;
}
