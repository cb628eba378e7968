import type { Claims } from '../../token/claims.ts';
import { graphSettings, mutationSettings, type TransactionSettings } from '../../token/settings.ts';
import { isQueryOf, type Operation } from './operation.ts';

/** The settings of the transactions of an operation. */
export const settingsOf = ({ prepared, requestId }: Operation, claims: Claims, maxRows: number): TransactionSettings =>
  isQueryOf(prepared)
    ? graphSettings(claims, requestId, maxRows)
    : mutationSettings(claims, requestId, maxRows, lockTimeouts.first);

/**
 * Lock timeout of a mutation, two seconds with its retry; PostgreSQL's default is unlimited.
 * The first wait is longer than `deadlock_timeout`, so that PostgreSQL ends one of two mutations that wait for each other.
 */
export const lockTimeouts = { first: '1200ms', retry: '800ms' };
