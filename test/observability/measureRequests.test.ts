import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { measureRequests } from '../../src/http/middleware.ts';
import { createRouteOf } from '../../src/http/requestTarget.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { fieldsOf, type RequestFields } from '../../src/observability/requestFields.ts';
import { parseMetrics } from './support.ts';

// Ends that a test cannot cause by a real request: a refusal before it is read, or a client that leaves.

/** The counters after one request that ends in this way, without the times. */
async function counted(url: string, statusCode: number, writableFinished: boolean, facts: RequestFields = {}) {
  const metrics = createMetrics();
  const response = Object.assign(new EventEmitter(), { statusCode, writableFinished }) as unknown as ServerResponse;
  const measure = measureRequests(metrics, createRouteOf([]));
  measure({ url } as IncomingMessage, response, () => Object.assign(fieldsOf(response), facts));
  response.emit('close');
  const samples = parseMetrics(await metrics.registry.metrics());
  return [...samples]
    .filter(([name, value]) => value > 0 && /_total|_duration_seconds_count/.test(name))
    .map(([name]) => name);
}

test.each([
  ['overload', 503, true, {}, 'UNAVAILABLE', 'none'],
  ['a defect', 500, true, {}, 'INTERNAL', 'none'],
  ['a client that leaves', 200, false, { operation: 'Left' }, 'ABORTED', 'other'],
  ['a bad request', 400, true, {}, 'BAD_USER_INPUT', 'none'],
] as const)('%s is counted by a code of its own', async (_what, status, isSent, facts, code, operation) => {
  expect(await counted('/graphql', status, isSent, facts)).toEqual([
    `http_request_duration_seconds_count{route="/graphql",status="${isSent ? status : 'aborted'}"}`,
    `graph_requests_total{code="${code}",operation="${operation}"}`,
  ]);
});

test('a browser that asks whether it may ask is no operation', async () => {
  expect(await counted('/graphql', 204, true)).toEqual([
    'http_request_duration_seconds_count{route="/graphql",status="204"}',
  ]);
});

test('the OAuth server is overloaded, too', async () => {
  expect(await counted('/oauth/token', 503, true, { grant: 'password' })).toEqual([
    'http_request_duration_seconds_count{route="/oauth/token",status="503"}',
    'oauth_refusals_total{code="temporarily_unavailable"}',
  ]);
});
