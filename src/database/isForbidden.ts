/** SQLSTATE 42501, insufficient_privilege. */
export const isForbidden = (error: unknown): boolean =>
  Error.isError(error) && 'code' in error && error.code === '42501';
