import { readFileSync } from 'node:fs';
import { buildSchema } from 'postgraphile/graphql';
import { chooseExamples } from '../../src/pages/chooseExamples.ts';
import { type Demo, startTestDemo } from '../support/demo.ts';

describe('the example queries', () => {
  let demo: Demo;
  const tokens: Record<string, string | null> = { none: null };

  beforeAll(async () => {
    demo = await startTestDemo();
    const backend = { client_id: 'demo-backend', client_secret: demo.credentials.clientSecret };
    tokens.app = await getToken(demo, { ...backend, grant_type: 'client_credentials', scope: 'app' });
    tokens.basic = await getToken(demo, { ...backend, grant_type: 'client_credentials', scope: 'basic' });
    tokens.user = await getToken(demo, {
      grant_type: 'password',
      client_id: 'demo-mobile',
      username: 'ada@demo.test',
      password: demo.credentials.password,
    });
  });

  afterAll(async () => {
    await demo.stop();
  });

  const schema = readFileSync(new URL('../graphql/schema.graphql', import.meta.url), 'utf8');
  const all = Object.entries(chooseExamples(buildSchema(schema))).flatMap(([kind, list]) =>
    list.map((example) => ({ kind, ...example })),
  );

  type Sent = { kind: string; query: string; variables?: object };
  const send = ({ kind, query, variables }: Sent, options: { Accept?: string; signal?: AbortSignal } = {}) => {
    const { signal, ...headers } = options;
    const token = tokens[kind];
    return fetch(`${demo.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers, ...(token && { Authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ query, variables }),
      ...(signal && { signal }),
    });
  };
  const [streams, others] = [true, false].map((isStream) =>
    all.filter(({ query }) => /^subscription/m.test(query) === isStream),
  ) as [typeof all, typeof all];

  it.each(streams)('are followed with a token of kind $kind: $label', async (example) => {
    const closing = new AbortController();
    const response = await send(example, { Accept: 'text/event-stream', signal: closing.signal });
    closing.abort();

    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Type')).toMatch(/^text\/event-stream/);
  });

  it.each(others)('answer a token of kind $kind: $label', async (example) => {
    const response = await send(example);
    const body = (await response.json()) as { data?: Record<string, unknown>; errors?: unknown };

    expect(body.errors).toBeUndefined();
    expect(Object.values(body.data ?? {})).toEqual([expect.anything()]);
  });
});

async function getToken({ url }: Demo, parameters: Record<string, string>): Promise<string> {
  const response = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(parameters) });
  expect(response.status).toBe(200);
  return ((await response.json()) as { access_token: string }).access_token;
}
