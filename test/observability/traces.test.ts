import { randomBytes } from 'node:crypto';
import { ask, createTenant, createUnit, createUser, type Tenant } from '../graphql/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startProcess, type TestProcess } from '../support/process.ts';
import { testSecretKey } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type CollectedSpan, type Collector, startCollector } from './collector.ts';

// From HTTP to SQL, in both threads, as a collector sees it.

let database: TestDatabase;
let collector: Collector;
let service: TestProcess & { url: string };
let tenant: Tenant;
beforeAll(async () => {
  database = await createTestDatabase();
  collector = await startCollector();
  tenant = await createTenant({ database });
  await createUser(tenant, { email: 'marker-email@acme.test', externalIdentifier: 'marker-row' });
  await createUnit(tenant);
  service = await start({ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_RESOURCE_ATTRIBUTES: 'deployment=test' });
});
afterAll(async () => {
  service.signal('SIGTERM');
  await service.exited;
  await collector.stop();
  await database.drop();
});

async function start(environment: Record<string, string>): Promise<TestProcess & { url: string }> {
  const started = startProcess([], {
    PATH: process.env.PATH ?? '',
    HOST: '127.0.0.1',
    PORT: '0',
    AUTH_DATABASE_URL: database.authUrl,
    SECRET_KEY: testSecretKey,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    ...environment,
  });
  await started.says('Graph Query Service: http');
  const url = /Graph Query Service: (http\S+)/.exec(started.output.stdout)?.[1] ?? '';
  return Object.assign(started, { url });
}

/** Sends it as part of a caller's own trace; the spans of that, once there are as many below the caller as asked for. */
async function traced(query: string, variables: Record<string, unknown>, isWhole: (names: string[]) => boolean) {
  const traceId = randomBytes(16).toString('hex');
  const callersSpanId = randomBytes(8).toString('hex');
  const response = await fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Authorization: `Bearer ${tenant.app}`,
      traceparent: `00-${traceId}-${callersSpanId}-01`,
    },
    body: JSON.stringify({ query, variables }),
  });
  const body = await response.text();
  const spans = () => collector.spans.filter((span) => span.traceId === traceId);
  await until(() => isWhole(spans().map(({ name }) => name)));
  return { spans: spans(), callersSpanId, body, requestId: response.headers.get('X-Request-Id') };
}

/** Each span as its name below the name of the one above. */
function tree(spans: CollectedSpan[]): string[] {
  const nameOf = (id: string | undefined) => spans.find(({ spanId }) => spanId === id)?.name ?? 'caller';
  return spans.map(({ name, parentSpanId }) => `${nameOf(parentSpanId)} > ${name}`).toSorted();
}

const isWhole = (names: string[]) => names.includes('POST /graphql');

test('a request is one trace, from the caller to each statement', async () => {
  const { spans, callersSpanId, requestId } = await traced(
    'query Names($ids: [String!]) { app { name users(externalIdentifiers: $ids) { nodes { email } } } }',
    { ids: ['marker-row'] },
    isWhole,
  );

  expect(tree(spans)).toEqual([
    'POST /graphql > execute',
    'POST /graphql > read document',
    'POST /graphql > verify token',
    'caller > POST /graphql',
    'execute > plan',
    'execute > select app_hidden.require_access_token',
    expect.stringMatching(/^execute > select (?=.*app_public\.app\b).*app_public\.users/),
    'verify token > select oauth.verify_access_token, app_hidden.require_service',
  ]);
  const request = spans.find(({ name }) => name === 'POST /graphql');
  expect(request).toMatchObject({
    parentSpanId: callersSpanId,
    kind: 2,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/graphql',
      'http.response.status_code': 200,
      'graphql.operation.name': 'Names',
      'graphql.operation.type': 'query',
      'graph.client_id': `client-${tenant.applicationId}`,
      'graph.request_id': requestId,
    },
  });
  expect(collector.resources).toContainEqual(
    expect.objectContaining({ 'service.name': 'graph-query-service', deployment: 'test' }),
  );
});

test('the log tells which trace a request belongs to', async () => {
  const { spans, requestId } = await traced('{ app { name } }', {}, isWhole);

  await service.says(`"requestId":"${requestId}"`);
  expect(service.output.stderr).toContain(`"traceId":"${spans[0]?.traceId}"`);
});

test('what the offload thread does is part of it', async () => {
  const { spans } = await traced(
    'query Long { app { rootUnits(first: 1000) { nodes { children(first: 1000) { nodes { name } } } } } }',
    {},
    (names) => isWhole(names) && names.includes('offload thread'),
  );

  expect(tree(spans)).toEqual(
    expect.arrayContaining([
      'POST /graphql > execute elsewhere',
      'execute elsewhere > offload thread',
      'offload thread > execute',
      'execute > plan',
      expect.stringMatching(/^execute > select .*app_public\.units/),
    ]),
  );
});

test('a failure is marked by its code', async () => {
  const create = (email: string) =>
    traced(
      'mutation Create($email: String!) { userCreate(fullName: "marker-name", email: $email) { user { id } } }',
      { email },
      isWhole,
    );

  const { spans, body } = await create('marker-email@acme.test');

  expect(body).toContain('CONFLICT');
  expect(spans.find(({ name }) => name === 'POST /graphql')?.attributes['error.type']).toBe('CONFLICT');
  const [failed] = spans.filter(({ status }) => status.code === 2);
  expect(failed).toMatchObject({ attributes: { 'db.response.status_code': '23505' } });
  expect(spans.map(({ status }) => status.message).filter(Boolean)).toEqual([]);
});

test('the OAuth server is traced, too', async () => {
  const before = collector.spans.length;
  await fetch(`${service.url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: 'marker-client',
      client_secret: 'marker-secret',
    }),
  });
  await until(() => collector.spans.slice(before).some(({ name }) => name === 'POST /oauth/token'));

  const spans = collector.spans.slice(before);
  expect(tree(spans)).toContain('POST /oauth/token > select oauth.find_application, app_hidden.require_service');
  expect(spans.find(({ name }) => name === 'POST /oauth/token')?.attributes['error.type']).toBe('invalid_client');
});

test('no value, token or query is in a trace', async () => {
  await ask({ url: service.url } as never, tenant.app, '{ node(id: "marker-id") { id } }');
  // The answer's error quotes text that cannot be parsed.
  await ask({ url: service.url } as never, tenant.app, '{ app marker-syntax');
  await fetch(`${service.url}/graphql/marker-path?query=marker-query`);
  await until(() => collector.spans.some(({ name }) => name === 'GET other'));

  const sent = Buffer.concat(collector.bodies).toString();
  for (const secret of ['marker', tenant.app, testSecretKey, new URL(database.authUrl).password])
    expect(sent).not.toContain(secret);
  expect(collector.spans.length).toBeGreaterThan(30);
});

test('traces go as protobuf by default, the last ones at the end', async () => {
  const other = await start({ OTEL_BSP_SCHEDULE_DELAY: '600000' });
  await fetch(`${other.url}/graphiql`);
  other.signal('SIGTERM');

  expect(await other.exited).toEqual({ code: 0, signal: null });
  expect([...collector.contentTypes]).toContain('/v1/traces application/x-protobuf');
});

test('an unreachable collector is logged once, and nothing else is affected', async () => {
  const other = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_TIMEOUT: '500' });
  for (let request = 0; request < 3; request++) await fetch(`${other.url}/healthz`);
  await other.says('traces cannot be sent');
  other.signal('SIGTERM');

  expect(await other.exited).toEqual({ code: 0, signal: null });
  expect(other.output.stderr.match(/traces cannot be sent/g)).toHaveLength(1);
});
