import type { ErrorRequestHandler, Request, RequestHandler } from 'express';
import { createBodyReader } from '../http/requestBody.ts';
import { resumeQueued } from '../scheduling/caller.ts';
import { invalidRequest, OAuthError } from './errors.ts';
import { type Form, type ParameterFallback, parseForm } from './form.ts';
import { grantParameters } from './grants/grants.ts';

const parameterNames = [
  'grant_type',
  'client_id',
  'client_secret',
  'scope',
  'token',
  'token_type_hint',
  ...grantParameters,
];

/** Refused in a URL, which is logged and kept in browser histories (RFC 6749 2.3.1, RFC 6750 5.3). */
const credentialNames = ['client_secret', 'token', 'access_token', 'client_assertion', ...grantParameters].filter(
  (name) => name !== 'redirect_uri',
);

/**
 * Reads a form-encoded body of at most 56 KiB; `request.body` becomes its `Parameters`.
 * Refuses credentials in the query; `fallback` may take the parameters from another source.
 */
export function readParameters(fallback: ParameterFallback = () => null): (RequestHandler | ErrorRequestHandler)[] {
  const pickParameters: RequestHandler = (request, _response, next) => {
    const body = bodyOf(request);
    const query = queryOf(request);
    const found = fallback(body, query);
    refuseCredentials(query, found?.credential);
    request.body = pick(found?.form ?? body, parameterNames);
    next();
  };
  return [...readBody(), pickParameters];
}

/** Reads a body of at most 56 KiB, for {@link bodyOf}. */
export function readBody(): (RequestHandler | ErrorRequestHandler)[] {
  const read = createBodyReader(56 * 1024, { inflate: false });
  const readInTurn: RequestHandler = async (request, response, next) => {
    request.body = await read(request, response);
    await resumeQueued();
    next();
  };
  return [readInTurn, explainUnreadable];
}

/** Refuses every credential in the query of a request whose body does not matter. */
export const refuseQueryCredentials: RequestHandler = (request, _response, next) => {
  refuseCredentials(queryOf(request), undefined);
  next();
};

function refuseCredentials(query: Form, except: string | undefined): void {
  const names = query.map(([name]) => withoutBrackets(name)).filter((name) => name !== except);
  if (names.some((name) => credentialNames.includes(name)))
    throw invalidRequest('A credential must not be in the URL: send it in the body, form-encoded.');
}

/**
 * The parameters of these names; others are ignored (RFC 6749 sections 3.1 and 3.2).
 * Each occurs at most once, and one without a value counts as omitted.
 *
 * @throws {OAuthError} invalid_request for one that is repeated or has brackets
 */
export function pick<Name extends string>(form: Form, names: readonly Name[]): { readonly [name in Name]?: string } {
  const parameters: { [name in Name]?: string } = {};
  const seen = new Set<string>();
  for (const [name, value] of form) {
    const known = names.find((parameter) => parameter === withoutBrackets(name));
    if (known === undefined) continue;
    if (known !== name) throw invalidRequest(`${known} must be a plain parameter, without brackets.`);
    if (seen.has(name)) throw invalidRequest(`${known} is repeated.`);
    seen.add(name);
    if (value !== '') parameters[known] = value;
  }
  return parameters;
}

/** `scope` for `scope`, `scope[]` and `scope[0]`: a parser of nested forms would treat them as one. */
const withoutBrackets = (name: string) => name.split('[', 1)[0] ?? name;

/** The query as it was sent. @throws {OAuthError} invalid_request */
export function queryOf(request: Request): Form {
  const start = request.originalUrl.indexOf('?');
  return start < 0 ? [] : parseForm(request.originalUrl.slice(start + 1));
}

/** The body that `readBody` has read. @throws {OAuthError} invalid_request when it is no form */
export function bodyOf(request: Request): Form {
  const bytes: unknown = request.body;
  if (!(bytes instanceof Buffer) || bytes.length === 0) return [];
  if (!isFormEncoded(request.headers['content-type'] ?? '')) {
    throw invalidRequest('The body must be form-encoded: Content-Type: application/x-www-form-urlencoded, in UTF-8.');
  }
  try {
    return parseForm(utf8.decode(bytes));
  } catch (error) {
    if (error instanceof OAuthError) throw error;
    throw invalidRequest('The body is not UTF-8.');
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function isFormEncoded(contentType: string): boolean {
  const [mediaType = '', ...attributes] = contentType.split(';').map((part) => part.trim().toLowerCase());
  if (mediaType !== 'application/x-www-form-urlencoded') return false;
  return attributes.every((attribute) => !/^charset=(?!"?utf-8"?$)/.test(attribute));
}

/** Explains the body parser's error. That carries the raw body, so it is not kept as a cause. */
const explainUnreadable: ErrorRequestHandler = (error, _request, _response, next) => {
  const status: unknown = error?.status;
  if (status === 413) next(new OAuthError('invalid_request', 'The body is larger than 56 KiB.', { status }));
  else if (typeof status === 'number' && status < 500) next(invalidRequest('The body cannot be read.'));
  else next(error);
};
