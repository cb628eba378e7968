import type { IncomingMessage } from 'node:http';
import type { GraphQLError } from 'postgraphile/graphql';
import { refusal } from '../../../plugins/refusal.ts';
import { decodeUtf8, isJson, type JsonWeight } from '../../http/requestBody.ts';
import { withoutPrefix } from '../document/storedOperations.ts';
import { type ErrorCode, errorCodes } from '../errors.ts';
import { findInexactNumbers, type InexactNumber } from './findInexactNumbers.ts';

/** The parameters of a GraphQL-over-HTTP request; a document, its id, or both. */
export type GraphqlRequest = {
  readonly query: string | null;
  /** The id without `sha256:`, which a client may send or leave out. */
  readonly documentId: string | null;
  readonly operationName: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Numbers in `variables` that were rounded. */
  readonly inexactNumbers: readonly InexactNumber[];
};

/** The request is not a well-formed GraphQL-over-HTTP request. */
export class RequestError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly errors: readonly GraphQLError[];

  constructor(message: string, { code = 'BAD_USER_INPUT', status, headers = {}, ...extensions }: Details = {}) {
    super(message);
    this.status = status ?? errorCodes[code].status;
    this.headers = headers;
    this.errors = [refusal(code, message, extensions)];
  }
}

/** `status` is set where HTTP requires another one than the code has. */
type Details = {
  code?: ErrorCode;
  status?: number;
  headers?: Readonly<Record<string, string>>;
  limit?: string;
};

/** Parses the parameters from the body of a POST or the query of a GET. */
export function readRequest(request: IncomingMessage, body: Buffer, weight: JsonWeight): GraphqlRequest {
  return request.method === 'GET' ? readQuery(request) : readBody(request, body, weight);
}

function readQuery({ url = '' }: IncomingMessage): GraphqlRequest {
  // The part before the query may not be a URL.
  const search = new URLSearchParams(/\?[^#]*/.exec(url)?.[0]);
  const parameters: Record<string, unknown> = {};
  for (const name of ['query', 'documentId', 'doc_id', 'operationName', 'variables', 'extensions']) {
    const [value, ...others] = search.getAll(name);
    if (others.length > 0) throw new RequestError(`The parameter ${name} is given more than once.`);
    if (value)
      parameters[name] =
        name === 'variables' || name === 'extensions' ? parseJson(value, `The parameter ${name}`) : value;
  }
  return checkShape(parameters, search.get('variables') ?? '', (parsed) => parsed);
}

function readBody({ headers }: IncomingMessage, bytes: Buffer, { excess }: JsonWeight): GraphqlRequest {
  if (!isJson(headers)) {
    throw new RequestError('Send the header Content-Type: application/json, and the body in UTF-8.', {
      status: 415,
      headers: { 'Accept-Post': 'application/json' },
    });
  }
  if (excess !== null)
    throw new RequestError(`The body has ${excess}; send fewer of them at once.`, {
      code: 'LIMIT_EXCEEDED',
      status: 413,
      limit: 'body',
    });
  const text = decodeUtf8(bytes);
  if (text === null) throw new RequestError('The body is not UTF-8.');
  const body = parseJson(text, 'The body');
  if (Array.isArray(body)) throw new RequestError('Batches are not supported; send one operation per request.');
  if (typeof body !== 'object' || body === null)
    throw new RequestError('The body must be a JSON object with the key "query".');
  return checkShape(body as Record<string, unknown>, text, (parsed) => (parsed as Record<string, unknown>).variables);
}

/** @param json the text that has the variables, and where they are in it */
function checkShape(
  { query, operationName, variables, extensions, ...ids }: Record<string, unknown>,
  json: string,
  variablesIn: (parsed: unknown) => unknown,
): GraphqlRequest {
  if (operationName != null && typeof operationName !== 'string')
    throw new RequestError('"operationName" must be a string.');
  if (!isMap(variables)) throw new RequestError('"variables" must be an object.');
  if (!isMap(extensions)) throw new RequestError('"extensions" must be an object.');
  const documentId = readDocumentId(ids, extensions?.persistedQuery);
  if (query != null && typeof query !== 'string') throw new RequestError('"query" must be a string.');
  if (!query && documentId === null)
    throw new RequestError('Send a GraphQL document in "query", or the id of one in "documentId".');
  return {
    query: query || null,
    documentId,
    operationName: operationName || null,
    variables: variables ?? {},
    inexactNumbers: variables ? findInexactNumbers(json, variablesIn) : [],
  };
}

/**
 * The id by which a client names a document.
 * `documentId` by GraphQL over HTTP (appendix A), `doc_id` by Relay's guide, `extensions.persistedQuery` by Apollo's clients.
 */
function readDocumentId({ documentId, doc_id }: Record<string, unknown>, persistedQuery: unknown): string | null {
  if (!isMap(persistedQuery) || (persistedQuery && persistedQuery.version !== 1))
    throw new RequestError('"extensions.persistedQuery" must be {"version": 1, "sha256Hash": "…"}.');
  const given = [documentId, doc_id, ...(persistedQuery ? [persistedQuery.sha256Hash ?? ''] : [])];
  const ids = given.filter((id) => id != null).map((id) => (typeof id === 'string' ? withoutPrefix(id) : ''));
  if (ids.includes('')) throw new RequestError('The id of a document must be a string.');
  if (new Set(ids).size > 1) throw new RequestError('The request names several documents by their ids.');
  return ids[0] ?? null;
}

const isMap = (value: unknown): value is Record<string, unknown> | null | undefined =>
  value == null || (typeof value === 'object' && !Array.isArray(value));

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RequestError(`${what} is not JSON.`);
  }
}
