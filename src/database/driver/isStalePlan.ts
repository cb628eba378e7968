import { DatabaseError } from 'pg';

/**
 * Whether a prepared statement would return other types than when it was prepared, since the type of a column has changed. Nothing was done.
 * PostgreSQL's code for that, feature_not_supported, has other meanings, and its message is in the server's language.
 */
export const isStalePlan = (error: unknown): boolean =>
  error instanceof DatabaseError && error.code === '0A000' && error.routine === 'RevalidateCachedQuery';
