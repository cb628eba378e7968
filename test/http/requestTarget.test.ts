import type { IncomingMessage } from 'node:http';
import { createRouteOf, isGraphql, isHealthCheck, pathOf } from '../../src/http/requestTarget.ts';

const request = (url: string) => ({ url }) as IncomingMessage;

test.each([
  ['/graphql', '/graphql'],
  ['/GraphQL/?query={a}', '/graphql'],
  ['http://host:3000/graphql?query={a}', '/graphql'],
  ['HTTPS://user:secret@host/graphql', '/graphql'],
  ['http://host', 'other'],
  ['/', '/'],
  ['//', '/'],
  ['/graphql//', 'other'],
  ['/graphql.json', 'other'],
  ['/graphql/schema.graphql#there', '/graphql/schema.graphql'],
  ['/Page/?x', '/page'],
  ['/pages', 'other'],
  ['/assets/graphiql.js', '/assets'],
  [`/assets/${'a'.repeat(1000)}`, '/assets'],
  [`/graphql${'/'.repeat(1000)}`, 'other'],
  ['', 'other'],
])('%s has the route %s', (url, route) => {
  expect(createRouteOf(['/page'])(url)).toBe(route);
});

test('a path that is logged has neither a query nor a password', () => {
  expect(pathOf('http://user:secret@host/Graphql?token=secret')).toBe('/Graphql');
  expect(pathOf('/graphql#token=secret')).toBe('/graphql');
});

test('/graphql and the health checks are known in every spelling', () => {
  expect(['/graphql', '/GRAPHQL/', 'http://host/graphql?x'].map((url) => isGraphql(request(url)))).not.toContain(false);
  expect(['/healthz', '/readyz?x', 'http://host/READYZ/'].map((url) => isHealthCheck(request(url)))).not.toContain(
    false,
  );
  expect(['/graphqls', '/healthz/graphql', '/oauth/token'].map((url) => isGraphql(request(url)))).not.toContain(true);
  expect(['/healthz/live', '/graphql?/healthz'].map((url) => isHealthCheck(request(url)))).not.toContain(true);
});
