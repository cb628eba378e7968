import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type HttpServer, listen } from '../../src/http/server.ts';
import { createAdmission } from '../../src/scheduling/admission.ts';
import { asTenant } from '../support/asTenant.ts';
import { until } from '../support/until.ts';

/** More than the operating system takes of a client that reads nothing. */
const large = Buffer.alloc(14_000_000, 'x');

const readNothing = (port: number, count = 1, path = '/unread'): Socket[] => {
  const sockets = Array.from({ length: count }, () =>
    connect(port, '127.0.0.1')
      .on('error', () => undefined)
      .pause(),
  );
  for (const socket of sockets) socket.write(requestFor(path));
  return sockets;
};

const requestFor = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

const lengthOf = async (port: number, path = '/') => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return (await response.arrayBuffer()).byteLength;
};

test('clients that never take their answers keep no other client out', async () => {
  const admit = createAdmission({ connections: 21, maxWaiting: 100, waitMs: 2000, onOverload: () => undefined });
  let answered = 0;
  const server = createServer((_request, response) => {
    admit({
      path: ['tenant'],
      hasLeft: () => response.closed,
      refuse: () => response.destroy(),
      begin(permit) {
        response.once('prefinish', permit.end);
        answered++;
        response.end(large);
      },
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  // More than are let in at once.
  const unread = readNothing(port, 40);
  await until(() => answered === 40);

  expect(await lengthOf(port)).toBe(large.length);
  expect(unread.filter(({ destroyed }) => destroyed)).toEqual([]);
  for (const socket of unread) socket.destroy();
  server.close();
});

describe('the HTTP server', () => {
  let server: HttpServer;
  let received: { request: IncomingMessage; response: ServerResponse }[];
  let answer: (response: ServerResponse) => void;

  beforeEach(async () => {
    received = [];
    answer = (response) => response.end(large);
    server = await listen('127.0.0.1', 0, (request, response) => {
      received.push({ request, response });
      answer(response);
    });
  });
  afterEach(() => server.stop(0));

  const unread = () => received.map(({ response }) => response.socket?.writableLength ?? 0);
  const paths = () => received.map(({ request }) => request.url);

  it('disconnects those first that have taken longest, when too much is unread', async () => {
    const [slowest] = readNothing(server.port);
    await until(() => received.length === 1);
    const slow = readNothing(server.port, 20);
    const readers: number[] = [];
    await until(async () => {
      readers.push(await lengthOf(server.port));
      return unread().reduce((sum, length) => sum + length) < 32_000_000;
    });

    expect(received[0]?.request.socket.destroyed).toBe(true);
    expect(unread().some((length) => length > 0)).toBe(true);
    expect(readers).toEqual(readers.map(() => large.length));
    for (const socket of [slowest, ...slow]) socket?.destroy();
  });

  it('disconnects those of the tenant of which most is unread, and not one that is slower', async () => {
    answer = (response) => asTenant(response.req.url ?? '', () => response.end(large));
    const [neighbour] = readNothing(server.port, 1, '/neighbour');
    await until(() => received.length === 1);
    const busy = readNothing(server.port, 20, '/busy');
    await until(async () => {
      await lengthOf(server.port);
      return unread().reduce((sum, length) => sum + length) < 32_000_000;
    });

    const isDisconnected = (path: string) =>
      received.filter(({ request }) => request.url === path).map(({ request }) => request.socket.destroyed);
    expect(isDisconnected('/neighbour')).toEqual([false]);
    expect(isDisconnected('/busy')).toContain(true);
    for (const socket of [neighbour, ...busy]) socket?.destroy();
  });

  it('disconnects no client that reads, however many they are', async () => {
    // Together more than may be unread, beyond what the operating system takes.
    const readers = 6;
    answer = (response) => response.end(large);

    const lengths = await Promise.all(Array.from({ length: readers }, () => lengthOf(server.port)));

    expect(lengths).toEqual(Array(readers).fill(large.length));
  });

  it('begins a request when the answer to the one before it on the connection was taken, and reads no further', async () => {
    answer = () => undefined;
    const socket = connect(server.port, '127.0.0.1');
    socket.write(['/1', '/2', '/3'].map(requestFor).join(''));
    await until(() => received.length === 1);
    for (const path of ['/1', '/2', '/3']) {
      await turns();
      expect(paths().at(-1)).toBe(path);
      received.at(-1)?.response.end(path);
      await once(socket, 'data');
    }

    socket.write(requestFor('/last').repeat(200_000));
    await until(() => received.length === 4);
    await turns();

    expect(received[3]?.request.socket.bytesRead).toBeLessThan(1_000_000);
    socket.destroy();
  });

  it('answers all the requests of a connection that were sent at once, bodies included', async () => {
    answer = (response) => response.end('ok');
    const socket = connect(server.port, '127.0.0.1');
    const body = 'x'.repeat(50_000);
    socket.write(
      `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`.repeat(100) +
        'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    );

    const text = (await socket.toArray()).join('');

    expect(text.match(/HTTP\/1.1 200 OK/g)).toHaveLength(101);
  });

  /** In which what was sent has arrived. */
  async function turns(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
});
