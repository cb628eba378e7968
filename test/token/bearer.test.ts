import type { IncomingMessage } from 'node:http';
import { bearerChallenge, readBearer } from '../../src/token/accessTokens.ts';

const read = (...authorization: string[]) =>
  readBearer({ headersDistinct: authorization.length > 0 ? { authorization } : {} } as unknown as IncomingMessage);

test('one Bearer header gives its token, whatever the case of the scheme', () => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
    expect(read(`${scheme} gqs_at_aZ09-._~+/==`)).toEqual({ kind: 'token', token: 'gqs_at_aZ09-._~+/==' });
  }
});

test('no header, or another scheme, is a missing token', () => {
  expect(read()).toEqual({ kind: 'missing' });
  expect(read('Basic YTpi')).toEqual({ kind: 'missing' });
  expect(read('')).toEqual({ kind: 'missing' });
  expect(read('Bearerish abc')).toEqual({ kind: 'missing' });
});

test('a header that has no token, more than one, or other characters is malformed', () => {
  for (const header of ['Bearer', 'Bearer ', 'Bearer a b', 'Bearer a,b', 'Bearer "a"', 'Bearer =a', 'Bearer ä']) {
    expect(read(header)).toEqual({ kind: 'malformed' });
  }
  expect(read('Bearer a', 'Bearer a')).toEqual({ kind: 'malformed' });
});

test('a placeholder that was not replaced is told from a token that cannot be read', () => {
  for (const header of ['Bearer <ACCESS_TOKEN>', 'bearer <access token>'])
    expect(read(header).kind).toBe('placeholder');
  for (const header of ['Bearer <a> b', 'Bearer <ACCESS_TOKEN', 'Bearer a<b>'])
    expect(read(header).kind).toBe('malformed');
  expect(read('Bearer ACCESS_TOKEN').kind).toBe('token');
  expect(bearerChallenge('placeholder')).toMatch(/error="invalid_token", error_description="Replace <ACCESS_TOKEN>/);
});

test('the challenge has an error only when a token was brought (RFC 6750 section 3)', () => {
  expect(bearerChallenge('missing')).toBe('Bearer realm="graph-query-service"');
  expect(bearerChallenge('token')).toMatch(/^Bearer realm="graph-query-service", error="invalid_token", error_desc/);
  expect(bearerChallenge('malformed')).toMatch(/error="invalid_token"/);
});
