import { isDeepStrictEqual } from 'node:util';
import { decodeId } from '../ids.ts';
import type { State } from './state.ts';

/** What a mutation may fail with; `argument` has several names where the contract does not say which. */
export type Failure = { readonly code: string; readonly argument?: string | readonly string[] };

/**
 * What comes of a mutation: one of the failures, or the state after it and its payload.
 * The contract does not say in which order arguments are checked, so that each of several failures is right.
 */
export type Outcome = { readonly failures: readonly Failure[] } | { readonly state: State; readonly payload: object };

/** What a mutation is given: `answer` is the payload that the service answered, for the values that it generates. */
export type Call = {
  readonly state: State;
  readonly organizationId: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly answer: unknown;
};

export const badInput = (argument: string | readonly string[]): Failure => ({ code: 'BAD_USER_INPUT', argument });
export const conflict = (argument: string | readonly string[]): Failure => ({ code: 'CONFLICT', argument });
export const notFound: Failure = { code: 'NOT_FOUND' };

/** The service does something that the model does not. */
export class DisagreementError extends Error {
  readonly expected: unknown;
  readonly actual: unknown;

  constructor(message: string, expected?: unknown, actual?: unknown) {
    super(message);
    this.expected = expected;
    this.actual = actual;
  }
}

/** Fails unless both are the same. */
export function agree(subject: string, expected: unknown, actual: unknown): void {
  if (!isDeepStrictEqual(expected, actual)) throw new DisagreementError(subject, expected, actual);
}

/** The values of a new row, as the answer has them: its key, and when it was made. */
export function generatedOf(answer: unknown, typeName: string): { id: string; createdAt: string; updatedAt: string } {
  const { id, createdAt, updatedAt } = (answer ?? {}) as Record<string, unknown>;
  const decoded = decodeId(String(id));
  if (decoded?.typeName !== typeName || typeof decoded.key !== 'string')
    throw new DisagreementError(`the id of a new ${typeName}`, typeName, answer);
  return { id: decoded.key, createdAt: String(createdAt), updatedAt: String(updatedAt ?? '') };
}

/** The row with the new values; its time of change moves when one of them is another, and only then. */
export function changed<Row extends { updatedAt: string }>(row: Row, values: Partial<Row>, answer: unknown): Row {
  const next = { ...row, ...values };
  if (isDeepStrictEqual(next, row)) return row;
  const { updatedAt } = (answer ?? {}) as { updatedAt?: string };
  if (!updatedAt || updatedAt <= row.updatedAt)
    throw new DisagreementError('updatedAt has to move', `after ${row.updatedAt}`, updatedAt);
  return { ...next, updatedAt };
}
