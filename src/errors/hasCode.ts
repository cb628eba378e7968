/** Whether an error has one of these codes, the operating system's (`ENOENT`) or a SQLSTATE. */
export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));
