/** No connection to the database could be had: it is down, refuses, or every connection stayed busy for too long. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';

  constructor(options?: ErrorOptions) {
    super('the database does not answer', options);
  }
}

/** Whether the error means that the database is away for now, so that the same request may succeed later. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true;
  if (!Error.isError(error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // The driver gives a connection that breaks during a statement neither a class nor a code.
  return unavailableCodes.test(code) || error.message.startsWith('Connection terminated');
}

/** SQLSTATE: connection exceptions, insufficient resources, operator intervention except a cancelled statement. */
const unavailableCodes = /^(08...|53...|57P0[1-5]|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT)$/;
