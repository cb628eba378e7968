import { hash, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { GraphQLError } from 'postgraphile/graphql';
import { refusal } from '../../plugins/refusal.ts';
import { isExactNumber } from '../../plugins/values.ts';
import { decodeUtf8, isJson, type JsonWeight } from '../http/requestBody.ts';
import type { PreparedDocument } from './document/document.ts';
import { DocumentError } from './document/documentError.ts';
import { type ErrorCode, errorCodes } from './errors.ts';

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

/** A number in a variable that JavaScript cannot keep as it was sent. */
export type InexactNumber = {
  readonly variable: string;
  /** Names the value: `$users[3].score`. */
  readonly path: string;
  /** As it was sent. */
  readonly source: string;
};

/**
 * Finds the numbers in JSON that `JSON.parse` would round.
 * For almost every request a regular expression shows that there are none. Otherwise each such number is put in quotes, behind a mark that
 * no client can know, and the text is parsed again. A reviver with `context.source` would run for each value, and recurses.
 *
 * @param text valid JSON
 * @param variablesIn where it has the variables, which are an object
 * @throws {DocumentError} `BAD_USER_INPUT` when there are more than a thousand
 */
export function findInexactNumbers(text: string, variablesIn: (parsed: unknown) => unknown): readonly InexactNumber[] {
  const marked = markInexact(text);
  return marked === null ? none : findMarked(variablesIn(JSON.parse(marked)) as Readonly<Record<string, unknown>>);
}

const none: readonly InexactNumber[] = [];

const mark = `${randomUUID()} `;

const maxMarked = 1000;
/** How long a path may be before it goes no deeper. */
const maxPath = 100;

/**
 * A number of 16 characters, or with an exponent; a double keeps all others.
 * It may be part of a string.
 */
const suspicious = /[[:,]\s*(?=-?(?:\d[\d.]{15}|\d[\d.]*[eE]))/g;
const number = /-?[\d.]+(?:[eE][+-]?\d+)?/y;

/** Quotes and marks inexact numbers; null when there are none. */
function markInexact(text: string): string | null {
  suspicious.lastIndex = 0;
  let match = suspicious.exec(text);
  if (!match) return null;
  const parts: string[] = [];
  let copied = 0;
  /** The beginning of the next string, and the end of the last one. */
  let quote = text.indexOf('"');
  let end = 0;
  for (; match; match = suspicious.exec(text)) {
    for (; quote !== -1 && quote < match.index; quote = text.indexOf('"', end)) end = endOfString(text, quote + 1);
    if (end > match.index) {
      suspicious.lastIndex = end;
      continue;
    }
    const start = suspicious.lastIndex;
    number.lastIndex = start;
    const [source = ''] = number.exec(text) ?? [];
    suspicious.lastIndex = number.lastIndex;
    if (isExactNumber(source)) continue;
    if (parts.length >= 2 * maxMarked) throw tooMany();
    parts.push(text.slice(copied, start), `"${mark}${source}"`);
    copied = number.lastIndex;
  }
  return copied === 0 ? null : parts.join('') + text.slice(copied);
}

const tooMany = () =>
  new DocumentError([
    refusal('BAD_USER_INPUT', `More than ${maxMarked} numbers cannot be kept exactly: send them as strings.`),
  ]);

/** The position after a string's closing quote; a quote behind an odd number of backslashes is escaped. */
function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start);
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote + 1;
}

function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text[before - 1] === '\\') before -= 1;
  return (at - before) % 2 === 1;
}

/** Breadth-first, without recursion: variables may be nested too deep for it. */
function findMarked(variables: Readonly<Record<string, unknown>>): InexactNumber[] {
  const found: InexactNumber[] = [];
  const left: { readonly path: string; readonly variable: string; readonly value: object }[] = [];
  const visit = (value: unknown, variable: string, path: string, key: string | number) => {
    const isObject = typeof value === 'object' && value !== null;
    if (!isObject && !(typeof value === 'string' && value.startsWith(mark))) return;
    const longer = path.length > maxPath ? path : `${path}${typeof key === 'number' ? `[${key}]` : key}`;
    if (isObject) left.push({ variable, path: longer, value });
    else found.push({ variable, path: longer, source: value.slice(mark.length) });
  };
  for (const [name, value] of Object.entries(variables)) visit(value, name, '$', name);
  for (const { value, variable, path } of left) {
    if (Array.isArray(value)) for (const [index, item] of value.entries()) visit(item, variable, path, index);
    else for (const [name, item] of Object.entries(value)) visit(item, variable, path, `.${name}`);
  }
  return found;
}

/** The idempotency key of a mutation, and the hash by which a repeated request is recognized. */
export type IdempotencyKey = {
  readonly key: string;
  /** SHA-256 of the document, its operation and its variables. */
  readonly requestHash: string;
};

/**
 * Reads `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header, section 2.1); null without one.
 * The draft has a string in quotes, but most clients send the key without quotes. `"k"` and `k` are the same key, so that a library that
 * starts to quote it repeats no change. Requests are compared by meaning and not by bytes: a client may name a persisted operation by its
 * id the first time, and send its text the second.
 *
 * @throws {RequestError} the header is malformed, or there is more than one
 */
export function readIdempotencyKey(
  { headersDistinct }: IncomingMessage,
  { query, operation }: PreparedDocument,
  variables: Readonly<Record<string, unknown>>,
): IdempotencyKey | null {
  const [header, ...others] = headersDistinct['idempotency-key'] ?? [];
  if (header === undefined) return null;
  const key = /^"(?:[^"\\]|\\["\\])*"$/.test(header) ? header.slice(1, -1).replaceAll(/\\(.)/g, '$1') : header;
  if (others.length > 0 || !/^[!-~]{1,255}$/.test(key))
    throw new RequestError('Send one header Idempotency-Key, of 1 to 255 visible ASCII characters.');
  const declared = operation.variableDefinitions?.map(({ variable: { name } }) => [name.value, variables[name.value]]);
  const asked = [query, operation.name?.value, Object.fromEntries(declared ?? [])];
  return { key, requestHash: hash('sha256', JSON.stringify(asked)) };
}

/** GraphQL over HTTP, appendix A: `sha256:` in front of an id only names its kind. */
export const withoutPrefix = (id: string) => id.replace(/^sha256:/, '');
