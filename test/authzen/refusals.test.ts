import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import {
  createTenant,
  createUnit,
  createViewer,
  type GraphTest,
  type Tenant,
  type TestUser,
} from '../graphql/support.ts';
import { shareService } from '../support/sharedService.ts';
import { until } from '../support/until.ts';
import { areDecisions, isDecision } from './schemas.ts';
import { decide, evaluate, type Path, question } from './support.ts';

let graph: GraphTest;
let tenant: Tenant;
let ada: TestUser & { token: string };
beforeAll(async () => {
  graph = await shareService();
  tenant = await createTenant(graph);
  ada = await createViewer(tenant, { externalIdentifier: 'ada' });
  await createUnit(tenant, { externalIdentifier: 'room' });
});

const body = question(['user', 'ada'], 'room');
const paths: readonly Path[] = ['evaluation', 'evaluations'];

/** Sent with the app's token: the status and the message, which is the whole body. */
async function refusal(path: Path, sent: unknown, headers?: Record<string, string>, token: string | null = tenant.app) {
  const answer = await evaluate(graph, token, path, sent, headers);
  expect(answer.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
  expect(answer.headers.get('Cache-Control')).toBe('no-store');
  expect(answer.text).toMatch(/^[A-Z][^\n]{9,}\.$/);
  return [answer.status, answer.text];
}

describe.each(paths)('%s', (path) => {
  it('answers as the schema of a decision asks', async () => {
    const answer = await evaluate(graph, tenant.app, path, body);

    expect(answer.status).toBe(200);
    expect(answer.headers.get('Content-Type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('Cache-Control')).toBe('no-store');
    expect(isDecision(answer.body)).toBe(true);
    const several = await evaluate(graph, tenant.app, 'evaluations', { evaluations: [body, body] });
    expect(areDecisions(several.body)).toBe(true);
  });

  it('verifies a token again whose claims have changed since the last request', async () => {
    const { app } = await createTenant(graph);
    const ask = async () => (await evaluate(graph, app, path, body)).status;
    expect(await ask()).toBe(200);
    const { rowCount } = await graph.database.owner.query(
      `update oauth.access_tokens set scopes = '{app,basic}' where token_hash = sha256($1)`,
      [Buffer.from(app)],
    );
    expect(rowCount).toBe(1);

    expect(await ask()).toBe(200);
  });

  it('says that the token has ended, whatever else is wrong', async () => {
    const { app } = await createTenant(graph);
    expect((await evaluate(graph, app, path, '{')).status).toBe(400);

    await graph.database.owner.query('delete from oauth.access_tokens where token_hash = sha256($1)', [
      Buffer.from(app),
    ]);

    expect((await evaluate(graph, app, path, '{')).status).toBe(401);
  });

  it('needs a token that lives, of scope app', async () => {
    const authorization = (value: string) => ({ Authorization: value });
    const challenge = async (token: string | null, headers = {}) =>
      (await evaluate(graph, token, path, body, headers)).headers.get('WWW-Authenticate');

    expect(await refusal(path, body, {}, null)).toEqual([401, expect.stringContaining('needs an access token')]);
    expect(await challenge(null)).toBe('Bearer realm="graph-query-service"');
    for (const value of ['Bearer', 'Bearer nonsense', `Bearer ${tenant.app}x`, 'Bearer <ACCESS_TOKEN>'])
      expect([value, (await refusal(path, body, authorization(value), null))[0]]).toEqual([value, 401]);
    expect(await challenge(null, authorization('Bearer nonsense'))).toContain('error="invalid_token"');
    for (const token of [ada.token, tenant.basic]) {
      expect(await refusal(path, body, {}, token)).toEqual([403, expect.stringContaining('scope app')]);
      expect(await refusal(path, { ...body, action: { name: 'leave' } }, {}, token)).toEqual([403, expect.any(String)]);
      expect(await challenge(token)).toContain('error="insufficient_scope", scope="app"');
    }
    // A query is no place for a token.
    const response = await fetch(`${graph.url}/access/v1/${path}?access_token=${tenant.app}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(401);
  });

  it.each(['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('has no %s', async (method) => {
    const headers = { Authorization: `Bearer ${tenant.app}` };
    const response = await fetch(`${graph.url}/access/v1/${path}`, { method, headers });

    expect([response.status, response.headers.get('Allow')]).toEqual([405, 'POST']);
  });

  it('reads JSON in UTF-8 alone', async () => {
    const text = JSON.stringify(body);
    const type = (value: string) => ({ 'Content-Type': value });
    const good = ['application/json', 'Application/JSON; charset="UTF-8"', 'application/json;charset=utf8'];
    for (const value of good) expect((await evaluate(graph, tenant.app, path, text, type(value))).status).toBe(200);
    const bad = [
      'text/plain',
      'application/jsonp',
      'application/json; charset=utf-16',
      'application/x-www-form-urlencoded',
    ];
    for (const value of bad) expect((await refusal(path, text, type(value)))[0]).toBe(400);
    expect(await refusal(path, '')).toEqual([400, 'The body is not JSON.']);
    expect(await refusal(path, Buffer.from([...Buffer.from('{"a":"'), 0xff, 0x22, 0x7d]))).toEqual([
      ...[400, 'The body is not UTF-8.'],
    ]);
    expect(await refusal(path, `{"subject":{},${text.slice(1)}`)).toEqual([400, expect.stringContaining('twice')]);
    const zipped = gzipSync(text);
    expect((await evaluate(graph, tenant.app, path, zipped, { 'Content-Encoding': 'gzip' })).status).toBe(200);
    expect((await refusal(path, zipped.subarray(0, 20), { 'Content-Encoding': 'gzip' }))[0]).toBe(400);
    expect((await refusal(path, text, { 'Content-Encoding': 'rot13' }))[0]).toBe(400);
  });

  it('takes a body of a million bytes, and no longer one', async () => {
    const longest = { ...body, other: '' };
    const fill = (bytes: number) => ({ ...longest, other: 'x'.repeat(bytes - JSON.stringify(longest).length) });

    expect((await evaluate(graph, tenant.app, path, fill(1_000_000))).status).toBe(200);
    expect(await refusal(path, fill(1_000_001))).toEqual([413, expect.stringContaining('1000000 bytes')]);
    const many = `{"context":{"x":[${Array(100_000).fill('[]')}]}}`;
    expect(await refusal(path, many)).toEqual([413, expect.stringContaining('100,000 lists')]);
  });

  it('gives X-Request-ID back unchanged', async () => {
    const visible = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)).join('');
    const kept = ['bfe9eb29-ab87-4ca3-be83-a1d5d8305716', visible, 'x'.repeat(255), '{"level":60}'];
    for (const id of kept) {
      for (const [token, status] of [
        [tenant.app, 200],
        [tenant.basic, 403],
        [null, 401],
      ] as const) {
        const { headers, ...answer } = await evaluate(graph, token, path, body, { 'X-Request-ID': id });
        expect([answer.status, headers.get('X-Request-Id')]).toEqual([status, id]);
      }
    }
    for (const id of ['x'.repeat(256), 'two words', 'é', ''])
      expect(
        (await evaluate(graph, tenant.app, path, body, { 'X-Request-ID': id })).headers.get('X-Request-Id'),
      ).toMatch(/^[0-9a-f-]{36}$/);
    // Log and database have an id of the server's in place of one that is not plain.
    expect(graph.logs.filter((line) => line.includes('level\\":60') || line.includes(visible.slice(0, 20)))).toEqual(
      [],
    );
  });

  it('is in the log with its route, client, code and statement', async () => {
    const lineOf = async (id: string) => {
      let line: Record<string, unknown> | undefined;
      await until(() => {
        line = graph.logs.map((text) => JSON.parse(text)).find((one) => one.requestId === id && one.msg === 'request');
        return line !== undefined;
      });
      return line;
    };
    await evaluate(graph, tenant.app, path, body, { 'X-Request-ID': `good-${path}` });
    await evaluate(graph, tenant.app, path, {}, { 'X-Request-ID': `bad-${path}` });

    const clientId = `client-${tenant.applicationId}`;
    expect(await lineOf(`good-${path}`)).toMatchObject({
      path: `/access/v1/${path}`,
      status: 200,
      clientId,
      statements: 1,
    });
    expect(await lineOf(`bad-${path}`)).toMatchObject({ status: 400, clientId, code: 'BAD_USER_INPUT' });
  });
});

it('answers whatever a client sends with 200 or 400', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\0', '\ud800', "'; drop table users --", '%', 'x'.repeat(3000), 'Z'.repeat(99)),
  );
  const entity = fc.record({ type: fc.oneof(text, fc.constantFrom('user', 'card', 'unit')), id: text });
  const one = fc.record({
    subject: entity,
    action: fc.record({ name: fc.oneof(text, fc.constant('enter')) }),
    resource: fc.oneof(
      entity,
      text.map((id) => ({ type: 'unit', id })),
    ),
    context: fc.oneof(
      fc.constant({}),
      fc.record({
        time: fc.oneof(
          text,
          fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
        ),
      }),
    ),
  });
  const sent = fc.oneof(
    fc.json(),
    one.map((value) => JSON.stringify(value)),
    fc.array(one, { maxLength: 5 }).map((evaluations) => JSON.stringify({ evaluations })),
  );
  const statuses = new Set<number>();
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), sent, async (path, value) => {
      const { status, text } = await evaluate(graph, tenant.app, path, value);
      statuses.add(status);
      expect([path, value, status, text]).toEqual([
        path,
        value,
        status === 200 ? 200 : 400,
        expect.not.stringMatching(/\bat .*\.ts:|select |SQL/),
      ]);
    }),
    { numRuns: 150 },
  );
  expect([...statuses].sort()).toEqual([200, 400]);
  expect(graph.logs.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
});

it('cancels the statement of a client that has left, and logs no failure', async () => {
  const waiting = `select from pg_stat_activity where query like '%decide_access%' and wait_event_type = 'Lock' and pid <> pg_backend_pid()`;
  const isWaiting = (count: number) => until(async () => (await tenant.owner.query(waiting)).rowCount === count);
  await decide(graph, tenant, 'evaluation', body);
  graph.logs.length = 0;
  const holder = await tenant.owner.connect();
  await holder.query('begin; lock table app_public.units in access exclusive mode');
  const controller = new AbortController();
  const headers = { Authorization: `Bearer ${tenant.app}`, 'Content-Type': 'application/json' };
  const { signal } = controller;
  const sent = fetch(`${graph.url}/access/v1/evaluation`, {
    method: 'POST',
    headers,
    signal,
    body: JSON.stringify(body),
  });
  await isWaiting(1);

  controller.abort();

  await expect(sent).rejects.toThrow('aborted');
  await isWaiting(0);
  await holder.query('rollback');
  holder.release();
  expect(await decide(graph, tenant, 'evaluation', body)).toBe('NO_GRANT');
  expect(graph.logs.filter((line) => JSON.parse(line).level >= 40)).toEqual([]);
});

it('decides the same again and again, many at once', async () => {
  const decided = await Promise.all(Array.from({ length: 50 }, () => decide(graph, tenant, 'evaluation', body)));

  expect(decided).toEqual(Array(50).fill('NO_GRANT'));
});
