import type { IncomingMessage } from 'node:http';
import { createTenants } from '../../src/http/admission.ts';
import { createRouteOf } from '../../src/http/requestTarget.ts';

type Headers = { authorization?: string; 'x-forwarded-for'?: string };

const requestOf = (url: string, headers: Headers = {}, remoteAddress = '192.0.2.1') =>
  ({ url, headers, socket: { remoteAddress } }) as unknown as IncomingMessage;

const routeOf = createRouteOf([]);

const bearer = { authorization: 'Bearer gqs_at_one' };

test('a credential that was verified is of its organization, until it is refused', () => {
  const { pathOf, remember, forget } = createTenants(0);
  const request = requestOf('/graphql', bearer);
  expect(pathOf(request, '/graphql')).toEqual(['strangers', '192.0.2.1']);

  remember(request, 'organization');
  expect(pathOf(requestOf('/oauth/token/info', bearer), '/oauth/token/info')).toEqual(['organization']);
  expect(pathOf(requestOf('/graphql', { authorization: 'Bearer gqs_at_two' }), '/graphql')).toEqual([
    'strangers',
    '192.0.2.1',
  ]);

  expect(pathOf(requestOf('/graphql', { authorization: 'bearer   gqs_at_one' }), '/graphql')).toEqual(['organization']);

  forget(request);
  expect(pathOf(request, '/graphql')).toEqual(['strangers', '192.0.2.1']);
});

test('what has no credential is never remembered', () => {
  const { pathOf, remember } = createTenants(0);

  remember(requestOf('/oauth/token'), 'organization');

  expect(pathOf(requestOf('/oauth/token'), '/oauth/token')).toEqual(['sign-in', '192.0.2.1']);
});

test.each([
  ['/graphql?query={__typename}', 'strangers'],
  ['/GraphQL/', 'strangers'],
  ['/access/v1/evaluation', 'strangers'],
  ['/oauth/token', 'sign-in'],
  ['/graphiql', 'sign-in'],
])('%s waits among the %s', (url, tenant) => {
  expect(createTenants(0).pathOf(requestOf(url), routeOf(url))).toEqual([tenant, '192.0.2.1']);
});

// The same as express' `request.ip`.
test.each([
  [0, '203.0.113.1', '192.0.2.1'],
  [1, '198.51.100.1, 203.0.113.1', '203.0.113.1'],
  [2, '198.51.100.1, 203.0.113.1', '198.51.100.1'],
  [3, '198.51.100.1, 203.0.113.1', '198.51.100.1'],
  [1, '2001:db8:1:2:3::4', '2001:db8:1:2::/64'],
  [1, undefined, '192.0.2.1'],
])('behind %i trusted proxies %s is of %s', (trustedProxies, forwarded, network) => {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };

  expect(createTenants(trustedProxies).pathOf(requestOf('/graphql', headers), '/graphql')).toEqual([
    'strangers',
    network,
  ]);
});
