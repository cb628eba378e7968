import { channel } from 'node:diagnostics_channel';

/** How many of the migrations that a database lacks it has run. */
export type MigrationProgress = { readonly done: number; readonly total: number };

/** Publishes a {@link MigrationProgress} after each migration, so that a command can show it to a person. */
export const migrationProgress = channel('graph-query-service:migrations');
