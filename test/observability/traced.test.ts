import { context, propagation, SpanStatusCode, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { traced, tracer } from '../../src/observability/traced.ts';

const exporter = new InMemorySpanExporter();
beforeAll(() => new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register());
afterEach(() => exporter.reset());
afterAll(() => {
  for (const api of [trace, context, propagation]) api.disable();
});

const fail = () => {
  throw new Error('what a client has sent');
};

test.each<[string, () => Promise<unknown> | unknown]>([
  ['what waits', () => traced('work', async () => fail())],
  ['what does not wait', () => traced('work', fail)],
])('of an error in %s the trace learns that there was one, and no more', async (_what, work) => {
  await tracer.startActiveSpan('request', async (request) => {
    await expect((async () => work())()).rejects.toThrow('what a client has sent');
    request.end();
  });

  const span = exporter.getFinishedSpans().find(({ name }) => name === 'work');
  expect(span).toMatchObject({ status: { code: SpanStatusCode.ERROR }, events: [], attributes: {} });
  expect(span?.status.message).toBeUndefined();
});

test('work outside of a traced request is no span', async () => {
  await traced('work', async () => undefined);
  traced('work', () => undefined);

  expect(exporter.getFinishedSpans()).toEqual([]);
});
