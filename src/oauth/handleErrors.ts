import type { ErrorRequestHandler, Request, Response } from 'express';
import { logUnavailable } from '../database/pool/logUnavailable.ts';
import { hasMoved, isRetryable } from '../database/pool/unavailable.ts';
import { hasCode } from '../errors/hasCode.ts';
import { requestIdOf } from '../http/middleware.ts';
import type { Log } from '../log.ts';
import { fieldsOf } from '../observability/requestFields.ts';
import { endedMeanwhile, OAuthError, temporarilyUnavailable } from './errors.ts';

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
export type SendRefusal = (request: Request, response: Response, refusal: OAuthError) => void;

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
