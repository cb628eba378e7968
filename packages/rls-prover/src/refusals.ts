import { DatabaseError } from 'pg';

/** Ignores that PostgreSQL refuses a statement, and no other error. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof DatabaseError)) throw error;
}

/** The result where PostgreSQL refuses a statement. */
export const refusedAs =
  <Result>(result: Result) =>
  (error: unknown): Result => {
    ignoreRefusal(error);
    return result;
  };
