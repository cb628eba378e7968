import type { ServerResponse } from 'node:http';
import { GraphQLError } from 'postgraphile/graphql';
import type { Config } from '../../config.ts';
import { hasMoved, isRetryable } from '../../database/pool/unavailable.ts';
import { InvalidTokenError } from '../../token/accessTokens.ts';
import { type Bearer, bearerChallenge, bearerProblems } from '../../token/bearer.ts';
import { DocumentError } from '../document/documentError.ts';
import { limitExceeded } from '../document/limitExceeded.ts';
import { errorCodes, movedMessage } from '../errors.ts';
import { wantsJson } from './negotiate.ts';
import { RequestError } from './request.ts';

export type ErrorResponse = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly errors: readonly GraphQLError[];
  /** How many errors there were, as words, if the answer has not all of them. */
  readonly total?: string;
};

export function toErrorResponse(
  error: unknown,
  response: ServerResponse,
  { limits }: Pick<Config, 'limits'>,
): ErrorResponse {
  if (error instanceof RequestError) return error;
  if (error instanceof DocumentError)
    return { status: wantsJson(response) ? 200 : statusOf(error), errors: error.errors, total: error.total };
  if (error instanceof InvalidTokenError) return unauthenticated('token');
  if (hasMoved(error)) return new RequestError(movedMessage, { code: 'UNAVAILABLE' });
  if (isRetryable(error))
    return new RequestError('The database is not available; try again later.', { code: 'UNAVAILABLE' });
  // An error of body-parser has the status of the client's mistake.
  const status = error instanceof Error && 'status' in error ? error.status : null;
  if (status === 413) return { status, errors: [limitExceeded('body', limits.body)] };
  if (status === 400 || status === 415) return new RequestError('The body cannot be read.', { status });
  // A defect of our own, which is logged.
  const originalError = error instanceof Error ? error : new Error('thrown', { cause: error });
  return { status: errorCodes.INTERNAL.status, errors: [new GraphQLError('defect', { originalError })] };
}

/** The status of the first error. */
const statusOf = ({ errors: [error] }: DocumentError) => errorCodes[error?.extensions.code ?? 'INTERNAL'].status;

/** 401, by RFC 6750. */
export function unauthenticated(kind: Bearer['kind']): RequestError {
  const headers = { 'WWW-Authenticate': bearerChallenge(kind) };
  return new RequestError(bearerProblems[kind], { code: 'UNAUTHENTICATED', headers });
}
