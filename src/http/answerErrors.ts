import type { ErrorRequestHandler, RequestHandler } from 'express';
import { logUnavailable } from '../database/pool/logUnavailable.ts';
import { isRetryable } from '../database/pool/unavailable.ts';
import type { Log } from '../log.ts';
import { fieldsOf } from '../observability/requestFields.ts';
import { requestIdOf } from './middleware/requestId.ts';
import { isOfAuthzen } from './requestTarget.ts';

/** The last mount but one: no other has answered. */
export const answerNotFound: RequestHandler = (_request, response) => {
  response.status(404).json({ error: 'not_found', error_description: 'Nothing is at this path.' });
};

/** Replaces everything that needs the database, until it is available for the first time. */
export const answerUnavailable: RequestHandler = (_request, response) => {
  const description = 'The service is not ready; /readyz says why.';
  response.status(503).set('Retry-After', '2');
  if (isOfAuthzen(fieldsOf(response).route)) response.type('text/plain').send(description);
  else response.json({ error: 'unavailable', error_description: description });
};

/**
 * The last mount: the answer to an error that another mount threw.
 * A parser's error becomes its 4xx status, an unavailable database 503, anything else 500 with the request's id, its cause in the log only.
 * An error's message never reaches the client. A 4xx has no message in the log either: a parser quotes the body, which may hold a password.
 */
export function handleErrors(log: Log): ErrorRequestHandler {
  // Express recognizes an error handler by its four parameters.
  return (error, _request, response, _next) => {
    const requestId = requestIdOf(response);
    const status = clientErrorStatus(error);
    if (status !== null) log.debug({ requestId, status, type: error.type }, 'refused a request');
    else if (isRetryable(error)) logUnavailable(log, error, { requestId });
    else log.error({ requestId, error }, 'a request failed');

    if (response.headersSent) response.destroy();
    else if (status !== null) response.status(status).json(clientErrors[status]);
    else if (isRetryable(error)) answerUnavailable(_request, response, _next);
    else
      response.status(500).json({ error: 'internal', error_description: `The cause is in the log: ${requestId.id}` });
  };
}

const clientErrors: Record<number, { error: string; error_description: string }> = {
  400: { error: 'bad_request', error_description: 'The request cannot be read.' },
  413: { error: 'content_too_large', error_description: 'The body is too large.' },
  415: { error: 'unsupported_media_type', error_description: 'The content type or encoding is not supported.' },
};

/** Express and body-parser set a status on the error; a status without a text here becomes 400. */
function clientErrorStatus(error: unknown): number | null {
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 500;
  if (!(status >= 400 && status < 500)) return null;
  return status in clientErrors ? status : 400;
}
