import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { Tokens } from './createWorld.ts';
import type { Document } from './render.ts';

/** A request to /graphql. */
export type Request = {
  readonly method: string;
  readonly search: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
  /** The document in it. */
  readonly query: string;
};

/**
 * Requests with these documents: mostly in order, by POST and GET, and some that are odd in their method, media types,
 * encoding, headers or body. Two of three have the token that the document needs.
 */
export function requests(documents: fc.Arbitrary<Document>, tokens: Tokens): fc.Arbitrary<Request> {
  const accept = fc.constantFrom('application/graphql-response+json', 'application/json', '*/*');
  const inOrder = fc.oneof(
    { weight: 9, arbitrary: fc.tuple(documents, accept).map(post) },
    { weight: 1, arbitrary: fc.tuple(documents, accept).map(get) },
  );
  const odd = fc.tuple(inOrder, oddities).map(([request, change]) => change(request));
  return fc
    .record({
      request: fc.oneof({ weight: 8, arbitrary: inOrder }, { weight: 1, arbitrary: odd }),
      isSuited: fc.constantFrom(true, true, false),
      anyone: fc.constantFrom(...Object.keys(tokens)),
    })
    .map(({ request, isSuited, anyone }) => {
      const suited = request.query.includes('viewer') ? 'me' : 'app';
      const token = tokens[isSuited ? suited : anyone];
      return token ? { ...request, headers: { Authorization: `Bearer ${token}`, ...request.headers } } : request;
    });
}

function post([{ query, variables }, accept]: [Document, string]): Request {
  const headers = { 'Content-Type': 'application/json', Accept: accept };
  const body = `{"query":${JSON.stringify(query)},"variables":${variables}}`;
  return { method: 'POST', search: '', headers, body, query };
}

function get([{ query, variables }, accept]: [Document, string]): Request {
  const search = `?${new URLSearchParams({ query, variables })}`;
  return { method: 'GET', search, headers: { Accept: accept }, body: null, query };
}

type Change = (request: Request) => Request;

const header = (name: string, ...values: string[]): fc.Arbitrary<Change> =>
  fc
    .constantFrom(...values)
    .map((value) => (request) => ({ ...request, headers: { ...request.headers, [name]: value } }));

const member = (name: string, ...values: string[]): fc.Arbitrary<Change> =>
  fc.constantFrom(...values).map((value) => (request) => ({
    ...request,
    search: request.search && `${request.search}&${name}=${encodeURIComponent(value)}`,
    body: typeof request.body === 'string' ? request.body.replace(/\}$/, `,"${name}":${value}}`) : request.body,
  }));

const body =
  (change: (body: string) => string | Uint8Array): Change =>
  (request) =>
    request.method === 'GET' ? request : { ...request, body: change(String(request.body)) as Request['body'] };

const anything = ['null', '[]', '{}', '""', '0', 'true', '"A"', '1e999', '{"__proto__":1}', '[[[]]]', '"\\ud83d"'];

const oddities: fc.Arbitrary<Change> = fc.oneof(
  fc.constantFrom('PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'QUERY', 'PROPFIND').map(
    (method): Change =>
      (request) => ({ ...request, method, ...(method === 'HEAD' && { body: null }) }),
  ),
  header('Accept', 'text/html', 'application/*', 'x', ';', 'application/json;q=0', 'application/xml, */*;q=0.1', 'é'),
  header(
    'Content-Type',
    ...[
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=utf-16',
      'application/json;',
      ';',
    ],
    ...['multipart/form-data', 'application/graphql', 'application/json; charset="', 'application/JSON; boundary=x'],
  ),
  header('Content-Encoding', 'gzip', 'deflate', 'br', 'identity', 'zstd', 'gzip, gzip', 'nonsense'),
  header(
    'Authorization',
    '',
    'Bearer',
    'Bearer x',
    'Bearer a b',
    'Basic YTpi',
    'bearer é',
    `Bearer ${'x'.repeat(5000)}`,
  ),
  header('X-Request-Id', '', "'; --", 'x'.repeat(300), 'é', 'a,b', '{}'),
  header('Origin', 'null', 'https://evil.test', 'é'),
  header('Cookie', 'a=b', 'access_token=x', '='),
  member('query', ...anything),
  member('variables', ...anything),
  member('operationName', ...anything),
  member('extensions', ...anything, '{"persistedQuery":{"version":1,"sha256Hash":"x"}}'),
  member('documentId', ...anything),
  member('__proto__', ...anything),
  fc.nat(200).map((length) => body((text) => text.slice(0, length))),
  fc
    .constantFrom<(text: string) => string | Uint8Array>(
      (text) => `[${text}]`,
      (text) => `\ufeff${text}`,
      (text) => `${text}${text}`,
      (text) => new TextEncoder().encode(text).map((byte, index) => (index % 20 === 19 ? 0xff : byte)),
      (text) => Buffer.from(text, 'utf16le'),
      (text) => '['.repeat(50_000) + text,
      (text) => text.padEnd(100_001),
      () => '',
      () => 'query=%7B__typename%7D',
    )
    .map(body),
  fc.constant<Change>((request) =>
    request.method === 'GET'
      ? request
      : {
          ...request,
          headers: { ...request.headers, 'Content-Encoding': 'gzip' },
          body: new Uint8Array(gzipSync(String(request.body))),
        },
  ),
);
