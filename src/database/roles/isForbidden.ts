import { hasCode } from '../../errors/hasCode.ts';

/** SQLSTATE 42501, insufficient_privilege. */
export const isForbidden = (error: unknown): boolean => hasCode(error, '42501');
