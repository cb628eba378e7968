import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { hasMoved, isRetryable, logUnavailable } from '../database/pool/unavailable.ts';
import { hasCode } from '../errors/errors.ts';
import { requestIdOf } from '../http/middleware.ts';
import type { Log } from '../log.ts';
import { fieldsOf } from '../observability/requestFields.ts';

/** Error codes of RFC 6749 4.1.2.1 and 5.2, RFC 6750's `invalid_token`, three for a service in trouble. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'access_denied'
  | 'invalid_scope'
  | 'invalid_token'
  | 'too_many_requests'
  | 'temporarily_unavailable'
  | 'server_error';

/**
 * A refusal that the client reads: `error`, `error_description`, a status and headers.
 * The description is plain ASCII without quotes and backslashes, and has nothing that the client sent. Only the log has the `cause`, and
 * the `reason` where the description must not give it; a reason has nothing that the client sent either.
 */
export class OAuthError extends Error {
  override name = 'OAuthError';
  readonly code: OAuthErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly reason: string;

  constructor(code: OAuthErrorCode, description: string, options: OAuthErrorOptions = {}) {
    super(description, 'cause' in options ? { cause: options.cause } : {});
    this.code = code;
    this.status = options.status ?? 400;
    this.headers = options.headers ?? {};
    this.reason = options.reason ?? description;
  }
}

type OAuthErrorOptions = { status?: number; headers?: Record<string, string>; reason?: string; cause?: unknown };

export const invalidRequest = (description: string) => new OAuthError('invalid_request', description);

/** One answer for an unknown client, a wrong secret and none, so that clients cannot be enumerated. */
export const invalidClient = (reason: string) =>
  new OAuthError(
    'invalid_client',
    'The client is unknown, or did not authenticate as it must: send client_id, and the secret if it has one.',
    {
      status: 401,
      headers: { 'WWW-Authenticate': 'Basic realm="graph-query-service", charset="UTF-8"' },
      reason,
    },
  );

export const invalidGrant = (description: string, reason = description) =>
  new OAuthError('invalid_grant', description, { reason });

/** The user or grant that a token depends on was deleted while the token was issued. */
const endedMeanwhile = (cause: unknown) =>
  new OAuthError('invalid_grant', 'The grant or its user was ended meanwhile.', { cause });

export const unauthorizedClient = (description: string) => new OAuthError('unauthorized_client', description);

export const invalidScope = (description: string) => new OAuthError('invalid_scope', description);

/** RFC 6585 section 4: the client may try again after so many whole seconds. */
export const tooManyRequests = (retryAfterSeconds: number, reason: string) =>
  new OAuthError('too_many_requests', 'There were too many requests or failures; wait before the next one.', {
    status: 429,
    headers: { 'Retry-After': String(retryAfterSeconds) },
    reason,
  });

/** Overload or outage: the same request may succeed later. */
export const temporarilyUnavailable = (reason: string, cause?: unknown) =>
  new OAuthError('temporarily_unavailable', 'The service is overloaded or its database is away; try again.', {
    status: 503,
    headers: { 'Retry-After': '2' },
    reason,
    cause,
  });

/**
 * The OAuth server's error handler: `{"error", "error_description"}` (RFC 6749 section 5.2).
 * An unexpected error is a `server_error`, or 503 when the database is unavailable or overloaded. Only the log has its cause, and the
 * reason of each refusal, which is in the canonical line of the request.
 */
export function handleErrors(log: Log, send: SendRefusal = sendJson): ErrorRequestHandler {
  // Express recognizes an error handler by its four parameters.
  return (error, request, response, _next) => {
    const refusal = toOAuthError(error);
    const { code, reason } = refusal;
    Object.assign(fieldsOf(response), { code, reason });
    const fields = { requestId: requestIdOf(response), oauthError: code, reason };
    if (refusal.status === 503) logUnavailable(log, refusal.cause, fields);
    else if (refusal.status >= 500) log.error({ ...fields, error: refusal.cause }, 'an OAuth request failed');

    if (response.headersSent) response.destroy();
    else {
      response.status(refusal.status).set(refusal.headers);
      send(request, response, refusal);
    }
  };
}

/** Writes a refusal whose status and headers are set already. */
type SendRefusal = (request: Request, response: Response, refusal: OAuthError) => void;

export const sendJson: SendRefusal = (_request, response, { code, message }) => {
  response.json({ error: code, error_description: message });
};

function toOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  if (hasMoved(error)) return temporarilyUnavailable('the organization is being moved, or has moved', error);
  if (isRetryable(error)) return temporarilyUnavailable('the database is unavailable or overloaded', error);
  if (hasCode(error, foreignKeyViolation)) return endedMeanwhile(error);
  return new OAuthError('server_error', 'The request failed; the cause is in the log.', { status: 500, cause: error });
}

/** A token's grant, application or user was deleted between two statements. */
const foreignKeyViolation = '23503';

/** A route's last handler: 405 with `Allow` for methods that no other took (RFC 9110 section 15.5.6). */
export function allowOnly(...methods: string[]): RequestHandler {
  const allow = methods.join(', ');
  return () => {
    throw new OAuthError('invalid_request', `The method is not supported here; use ${methods.join(' or ')}.`, {
      status: 405,
      headers: { Allow: allow },
    });
  };
}
