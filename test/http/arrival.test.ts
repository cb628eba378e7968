import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { watchArrivals } from '../../src/http/server.ts';
import { withSlowTurns } from '../support/slowTurns.ts';

const server = createServer((request, response) => {
  arrivals.push(arrivalOn(request.socket));
  response.end();
});
const arrivalOn = watchArrivals(server);
let arrivals: number[] = [];
let sockets: Socket[] = [];

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
beforeEach(() => {
  arrivals = [];
  sockets = [];
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const request = 'GET / HTTP/1.1\r\nHost: here\r\n\r\n';

/** Connects, sends the request and waits for an answer. */
async function send(): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket);
  socket.write(request);
  await new Promise((resolve) => socket.once('data', resolve));
  return socket;
}

test('requests that come at once have come at once, though their connections are accepted one by one', async () => {
  await withSlowTurns(5, () => Promise.all(Array.from({ length: 20 }, send)));

  expect(arrivals).toHaveLength(20);
  expect(new Set(arrivals).size).toBe(1);
});

test('a request that comes later has come later, on a connection of its own or on the same', async () => {
  await withSlowTurns(5, async () => {
    const [socket] = await Promise.all([send(), send()]);
    await send();
    socket.write(request);
    await new Promise((resolve) => socket.once('data', resolve));
  });

  const [first, second, third, fourth] = arrivals as [number, number, number, number];
  expect(second).toBe(first);
  expect(third).toBeGreaterThan(second);
  expect(fourth).toBeGreaterThan(third);
});

test('a request that was sent only after its connection was accepted has come when it was read', async () => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket);
  const accepted = new Promise<number>((resolve) => server.once('connection', () => resolve(performance.now())));
  const since = await accepted;
  await delay(20);
  // On a machine that stands still this is still the turn after the accept.
  for (let turn = 0; turn < 3; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
  socket.write(request);
  await new Promise((resolve) => socket.once('data', resolve));

  expect((arrivals[0] ?? 0) - since).toBeGreaterThan(15);
});

test('clients that never stop to connect move nothing back further than the queue of connections is long', async () => {
  let left = 600;
  const more = async (): Promise<void> => {
    if (left-- > 0) return send().then(more);
  };

  await Promise.all(Array.from({ length: 50 }, more));

  const groups = Map.groupBy(arrivals, (arrival) => arrival);
  expect([...groups.values()].map(({ length }) => length)).toEqual([511, 89]);
});
