import { shareService } from '../support/sharedService.ts';
import { codes, type Send, sending } from './httpRequest.ts';
import { createTenant } from './support.ts';

let send: Send;
beforeAll(async () => {
  const graph = await shareService();
  send = sending(graph, (await createTenant(graph)).app);
});

const jsonType = 'application/json; charset=utf-8';
const graphqlType = 'application/graphql-response+json; charset=utf-8';

const post = (body: unknown, headers: Record<string, string> = {}) =>
  send({ body: JSON.stringify(body), headers: { 'Content-Type': 'application/json', ...headers } });
const get = (parameters: Record<string, string>, headers: Record<string, string> = {}) =>
  send({ method: 'GET', path: `/graphql?${new URLSearchParams(parameters)}`, headers });

describe('Accept', () => {
  it.each([
    [undefined, jsonType],
    ['*/*', jsonType],
    ['application/*', jsonType],
    ['application/json', jsonType],
    ['application/graphql-response+json', graphqlType],
    ['application/graphql-response+json; charset=utf-8, application/json; charset=utf-8', graphqlType],
    ['application/json, application/graphql-response+json', jsonType],
    ['application/json;q=0.5, application/graphql-response+json', graphqlType],
    ['text/html, application/graphql-response+json;q=0.1', graphqlType],
  ])('%s is answered as %s', async (accept, expected) => {
    const { status, type } = await post({ query: '{ __typename }' }, accept ? { Accept: accept } : {});

    expect({ status, type }).toEqual({ status: 200, type: expected });
  });

  it('without a media type that the service has is 406', async () => {
    const answer = await post({ query: '{ __typename }' }, { Accept: 'text/html' });

    expect({ status: answer.status, codes: codes(answer) }).toEqual({ status: 406, codes: ['BAD_USER_INPUT'] });
    expect(answer.type).toBe(jsonType);
  });

  it('decides about the status of a refused document: 400, or 200 for clients of application/json', async () => {
    for (const [query, code] of [
      ['{', 'GRAPHQL_PARSE_FAILED'],
      ['{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
      ['query A { __typename } query B { __typename }', 'GRAPHQL_VALIDATION_FAILED'],
      ['fragment F on User { id }', 'GRAPHQL_VALIDATION_FAILED'],
      ['subscription { viewer { id } }', 'GRAPHQL_VALIDATION_FAILED'],
      ['query($id: ID!) { node(id: $id) { id } }', 'BAD_USER_INPUT'],
      ['{ app { users(first: -1) { totalCount } } }', 'BAD_USER_INPUT'],
    ])
      for (const [Accept, status] of [
        ['application/graphql-response+json', 400],
        ['application/json', 200],
      ] as const) {
        const answer = await post({ query }, { Accept });
        expect({ status: answer.status, codes: codes(answer), data: answer.body?.data }).toEqual({
          status,
          codes: [code],
          data: undefined,
        });
      }
  });
});

test('nothing keeps an answer', async () => {
  for (const { headers } of [await post({ query: '{ __typename }' }), await get({ query: '{ __typename }' })])
    expect([headers.get('Cache-Control'), headers.get('Vary'), headers.get('ETag')]).toEqual([
      'no-store',
      'Accept, Accept-Encoding, Authorization',
      null,
    ]);
});

describe('an answer of more than 1 kB', () => {
  const query = '{ __schema { types { name description } } }';

  it.each([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip;q=0.5, br', 'br'],
    ['deflate, gzip;q=0.9, zstd', 'gzip'],
    ['*', 'br'],
    ['', null],
    ['identity', null],
    ['gzip;q=0', null],
    ['zstd', null],
  ])('is encoded for a client that accepts %j: %s', async (accepted, encoding) => {
    const plain = await post({ query }, { 'Accept-Encoding': 'identity' });
    const encoded = await post({ query }, { 'Accept-Encoding': accepted });

    expect(encoded.headers.get('Content-Encoding')).toBe(encoding);
    expect(encoded.body).toEqual(plain.body);
    const [length, plainLength] = [encoded, plain].map(({ headers }) => Number(headers.get('Content-Length')));
    if (encoding) expect(length).toBeLessThan((plainLength ?? 0) / 2);
    else expect(length).toBe(plainLength);
  });

  it('is encoded also when it is an error, and a shorter one never is', async () => {
    const mistakes = Array.from({ length: 20 }, (_, number) => `nothing${number}`);
    const encodingOf = async (document: string) =>
      (await post({ query: document }, { 'Accept-Encoding': 'gzip' })).headers.get('Content-Encoding');

    expect(await encodingOf(`{ ${mistakes.join(' ')} }`)).toBe('gzip');
    expect(await encodingOf('{ nothing }')).toBeNull();
    expect(await encodingOf('{ __typename }')).toBeNull();
  });
});
