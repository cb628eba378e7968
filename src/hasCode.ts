/** Whether the error is the operating system's, with this code, such as `ENOENT`. */
export function isErrno(error: unknown, code: string): boolean {
  return Error.isError(error) && 'code' in error && error.code === code;
}
