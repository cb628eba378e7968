import { apiRoutes, createRouteOf } from '../../src/http/requestTarget.ts';
import { createOperationLabels } from '../../src/observability/metrics.ts';
import { pages } from '../../src/pages/router.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestService, type TestService } from '../support/service.ts';

// Strangers cannot make up labels, of which each costs memory here and in Prometheus.

describe('names of operations', () => {
  it('become labels once they have succeeded, a bounded number of them', () => {
    const labelOf = createOperationLabels(2);

    expect(labelOf('A', false)).toBe('other');
    expect(labelOf('A', true)).toBe('A');
    expect(labelOf('A', false)).toBe('A');
    expect(labelOf('x'.repeat(101), true)).toBe('other');
    expect(labelOf('B', true)).toBe('B');
    expect(labelOf('C', true)).toBe('other');
    expect(labelOf(undefined, false)).toBe('none');
  });
});

describe('paths', () => {
  const pagePaths = pages.map(({ path }) => path);
  const routeOf = createRouteOf(pagePaths);
  let database: TestDatabase;
  let service: TestService;
  beforeAll(async () => {
    database = await createTestDatabase();
    service = await startTestService(database, { EXPLORERS: 'true' });
  });
  afterAll(async () => {
    await service.stop();
    await database.drop();
  });

  it.each([...apiRoutes, ...pagePaths])('%s is a label and is served', async (route) => {
    const method = route === '/oauth/sign-in' || route === '/oauth/sign-out' ? 'POST' : 'GET';

    expect((await fetch(service.url + route, { method })).status).not.toBe(404);
    expect(routeOf(route)).toBe(route);
  });

  it('are distinguished as Express does, and whatever else is asked for is other', () => {
    expect(routeOf('/GraphQL/?query=secret')).toBe('/graphql');
    expect(routeOf('/oauth/token?grant_type=password')).toBe('/oauth/token');
    expect(routeOf('/assets/pages-123/page.css')).toBe('/assets');
    for (const url of ['/graphql/x', '/secret', '', '*', `/${'x'.repeat(10_000)}`, '//graphql'])
      expect(routeOf(url)).toBe('other');
  });
});
