/** Whether a value is a UUID as PostgreSQL writes it. */
export const isUuid = (value: unknown): value is string =>
  typeof value === 'string' && value.length === 36 && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);
