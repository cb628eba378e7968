import { connect } from 'node:net';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestService, type TestService } from '../support/service.ts';

let database: TestDatabase;
let service: TestService;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await startTestService(database);
});
afterAll(async () => {
  await service.stop();
  await database.drop();
});

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The X-Request-Id of an answer to a request with these lines in its head, as they are. */
async function answerTo(
  path: string,
  ...lines: (string | Buffer)[]
): Promise<{ status: number; ids: string[]; text: string }> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n`);
  for (const line of lines) socket.write(Buffer.concat([Buffer.from(line), Buffer.from('\r\n')]));
  socket.write('\r\n');
  const text = Buffer.concat(await socket.toArray()).toString('latin1');
  const ids = Array.from(text.matchAll(/^x-request-id: (.*)\r$/gim), ([, id = '']) => id);
  return { status: Number(text.split(' ')[1]), ids, text };
}

const paths = [
  '/graphql',
  '/access/v1/evaluations',
  '/oauth/token',
  '/healthz',
  '/readyz',
  '/graphiql',
  '/nothing',
  '/.well-known/oauth-authorization-server',
];

it.each(paths)('every answer has one: %s', async (path) => {
  const [{ ids: first }, { ids: second }] = [await answerTo(path), await answerTo(path)];

  expect([first, second]).toEqual([[expect.stringMatching(uuid)], [expect.stringMatching(uuid)]]);
  expect(first).not.toEqual(second);
  expect((await answerTo(path, 'X-Request-Id: my-request')).ids).toEqual(['my-request']);
});

it.each(['a', '0', 'A.b:c-d_e', '01a1fdc6-a98f-7b2c-8a1e-6f1c9f1d2e3f', 'x'.repeat(100)])(
  "the client's own is kept: %s",
  async (id) => {
    expect((await answerTo('/healthz', `X-Request-Id: ${id}`)).ids).toEqual([id]);
    expect((await answerTo('/healthz', `x-REQUEST-id:   ${id}  `)).ids).toEqual([id]);
  },
);

it.each([
  ['nothing', ''],
  ['spaces', '   '],
  ['more than 100 characters', 'x'.repeat(101)],
  ['two words', 'a b'],
  ['a list', 'a, b'],
  ['a tab', 'a\tb'],
  ['markup', '<script>alert(1)</script>'],
  ['a quotation mark', '"'],
  ['a line of a log', '{"level":60}'],
  ['SQL', "'; drop table users --"],
  ['a percent sign', '%0d%0aSet-Cookie:a=b'],
  ['a format', '%s%n'],
  ['a letter that is not ASCII', 'é'],
  ['bytes of an emoji', Buffer.from('😀')],
  ['a terminal sequence', Buffer.from([0x9b, 0x33, 0x31, 0x6d])],
])('one with %s is replaced and is in no log', async (_what, value) => {
  service.logs.length = 0;
  const { status, ids } = await answerTo(
    '/healthz',
    Buffer.concat([Buffer.from('X-Request-Id: '), Buffer.from(value)]),
  );

  expect({ status, ids }).toEqual({ status: 200, ids: [expect.stringMatching(uuid)] });
  expect(service.logs.map((line) => JSON.parse(line).requestId)).toEqual(ids);
});

it('of two that a client sends neither is taken', async () => {
  const { ids } = await answerTo('/healthz', 'X-Request-Id: one', 'X-Request-Id: two');

  expect(ids).toEqual([expect.stringMatching(uuid)]);
});

it.each([
  ['a line feed', 'a\nSet-Cookie: b=c'],
  ['a carriage return', 'a\rb'],
  ['a NUL', 'a\0b'],
  ['an escape', 'a\u001b[31m'],
])('one with %s cannot write headers of its own', async (_what, value) => {
  const { status, text } = await answerTo('/healthz', `X-Request-Id: ${value}`);

  // HTTP takes a line feed for the end of a line: then it is another header of the request.
  expect([200, 400]).toContain(status);
  expect(text).not.toMatch(/set-cookie/i);
  expect(text).not.toContain('\u001b');
});
