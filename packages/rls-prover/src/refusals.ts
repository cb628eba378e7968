import { DatabaseError } from 'pg';

/** The result where PostgreSQL refuses a statement. Other errors are thrown on. */
export const refusedAs =
  <Result>(result: Result) =>
  (error: unknown): Result => {
    if (!(error instanceof DatabaseError)) throw error;
    return result;
  };
