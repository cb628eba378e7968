import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { ask } from '../graphql/client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

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

test.each(['/graphql', '/oauth/token'])(
  'clients that never finish their bodies to %s keep nobody else out',
  async (path) => {
    const { port } = new URL(service.url);
    const slow = Array.from({ length: 100 }, () => connect(Number(port), '127.0.0.1'));
    for (const socket of slow) begin(socket, path);
    await until(() => slow.every((socket) => socket.bytesWritten > 0));

    // More than are let in at once.
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => ask(service, null, '{ __schema { queryType { name } } }')),
    );

    expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(200));

    // When they finish, all at once, each has its turn.
    const answered = slow.map(async (socket) => {
      socket.write('}');
      const [data] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      return `${data}`.split(' ')[1];
    });
    expect(new Set(await Promise.all(answered))).toEqual(new Set([path === '/graphql' ? '401' : '400']));
  },
);

test.each([
  '/graphql',
  '/access/v1/evaluation',
  '/access/v1/evaluations',
  '/oauth/token',
  '/oauth/revoke',
  '/oauth/introspect',
  '/oauth/sign-in',
])('a body to %s that is said to be too large is refused before it comes', async (path) => {
  const { port } = new URL(service.url);
  for (const expect100 of ['', 'Expect: 100-continue\r\n']) {
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\n${expect100}Content-Length: 2000000000\r\n\r\n{`);

    expect((await socket.toArray()).join('')).toMatch(/^HTTP\/1.1 413 .*\r\nConnection: close\r\n/s);
  }
});

/** All of a request but the last byte of its body. */
function begin(socket: Socket, path: string): void {
  socket.on('error', () => undefined);
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{`);
}
