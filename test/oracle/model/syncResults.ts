import type { Typed } from './ids.ts';
import type { Call, Failure } from './outcome.ts';

export type SyncResult = {
  externalIdentifier: string;
  outcome: 'CREATED' | 'UPDATED' | 'UNCHANGED' | 'REFUSED';
  error: { code: string; argument: string | null; message: string } | null;
  user?: Typed | null;
  unit?: Typed | null;
  card?: Typed | null;
};

export type AnsweredResult = {
  user?: unknown;
  unit?: unknown;
  card?: unknown;
  error?: { code: string; argument: string | null; message: string } | null;
};

/** What the service answered of a row of a sync. */
export function answeredResult({ answer }: Call, index: number): AnsweredResult {
  return (answer as { results?: AnsweredResult[] } | null)?.results?.[index] ?? {};
}

/** The failure that the service answered when it is one of those that are right, else the first of these. */
export function chooseFailure(failures: readonly Failure[], { error }: AnsweredResult): SyncResult['error'] {
  const chosen =
    failures.find((failure) => isFailure(failure, error?.code, error?.argument ?? undefined)) ?? failures[0];
  const argument = [chosen?.argument ?? null].flat() as (string | null)[];
  const answered = error?.argument ?? null;
  return {
    code: chosen?.code ?? '',
    argument: (argument.includes(answered) ? answered : argument[0]) ?? null,
    // The words are the service's own; there have to be some.
    message: error?.message || 'a message',
  };
}

export function isFailure(failure: Failure, code: string | undefined, argument: string | undefined): boolean {
  return failure.code === code && ([failure.argument].flat() as (string | undefined)[]).includes(argument);
}
