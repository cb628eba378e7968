import { createRouteOf, pathOf } from '../../src/http/requestTarget.ts';

test.each([
  ['/graphql', '/graphql'],
  ['/GraphQL/?query={a}', '/graphql'],
  ['http://host:3000/graphql?query={a}', '/graphql'],
  ['HTTPS://user:secret@host/graphql', '/graphql'],
  ['/GRAPHQL/', '/graphql'],
  ['/graphqls', 'other'],
  ['/healthz', '/healthz'],
  ['/readyz?x', '/readyz'],
  ['http://host/READYZ/', '/readyz'],
  ['/healthz/graphql', 'other'],
  ['/healthz/live', 'other'],
  ['/graphql?/healthz', '/graphql'],
  ['http://host', 'other'],
  ['/', '/'],
  ['//', '/'],
  ['/graphql//', 'other'],
  ['/graphql.json', 'other'],
  ['/graphql/schema.graphql#there', '/graphql/schema.graphql'],
  ['/Page/?x', '/page'],
  ['/pages', 'other'],
  ['/Page/User?x', '/page'],
  ['/page/a/b', '/page'],
  ['/pages/User', 'other'],
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
