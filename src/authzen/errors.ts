import { hasMoved, isRetryable } from '../database/pool/unavailable.ts';
import { hasCode } from '../errors/hasCode.ts';
import { InvalidTokenError } from '../token/accessTokens.ts';
import { type Bearer, bearerChallenge, bearerProblems } from '../token/bearer.ts';

/**
 * A refusal of a whole request (AuthZEN section 10.1.2): its status, its headers, and its message as the body.
 * The message has nothing that the client sent.
 */
export class AuthzenError extends Error {
  override name = 'AuthzenError';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

export const unauthenticated = (kind: Bearer['kind']) =>
  new AuthzenError(401, bearerProblems[kind], { 'WWW-Authenticate': bearerChallenge(kind) });

/** RFC 6750 section 3.1. */
export const forbidden = () =>
  new AuthzenError(403, 'This needs an access token of an application with scope app.', {
    'WWW-Authenticate': 'Bearer realm="graph-query-service", error="insufficient_scope", scope="app"',
  });

/** The codes of the log, those of the graph. */
export const codes: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  413: 'LIMIT_EXCEEDED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

/** @param maxBytes of a body */
export function toRefusal(error: unknown, maxBytes: number): AuthzenError {
  if (error instanceof AuthzenError) return error;
  if (error instanceof InvalidTokenError) return unauthenticated('token');
  if (isRetryable(error)) {
    const message = hasMoved(error)
      ? 'The organization is being moved to another database; try again later.'
      : 'The database is not available; try again later.';
    return new AuthzenError(503, message, { 'Retry-After': '2' });
  }
  // The role of the token may not execute the function.
  if (hasCode(error, '42501')) return forbidden();
  // An error of body-parser has the status of the client's mistake.
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 500;
  if (status === 413) return new AuthzenError(413, `The body has more than ${maxBytes} bytes.`);
  if (status >= 400 && status < 500) return new AuthzenError(400, 'The body cannot be read.');
  return new AuthzenError(500, 'Something went wrong on our side; the log says more under the X-Request-Id.');
}
