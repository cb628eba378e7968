import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createUser } from '../graphql/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import type { TestProcess } from '../support/process.ts';
import { startServer } from '../support/startServer.ts';
import { addressOf } from '../support/workers.ts';
import { createTenantWithSecret, type TenantWithSecret } from './support/tenant.ts';

// What clients can cost that are slow, send too much, or break off: time until the service is rid of them, its memory, and the time
// of a client beside them who behaves.

const each = 30;
const mostMemoryMb = 150;

let database: TestDatabase;
let tenant: TenantWithSecret;
let service: TestProcess;
beforeAll(async () => {
  database = await createTestDatabase();
  tenant = await createTenantWithSecret(database.owner);
  for (let n = 0; n < 50; n++) await createUser(tenant);
  service = await startServer({ AUTH_DATABASE_URL: database.authUrl });
  for (let n = 0; n < 500; n++) await ask();
}, 60_000);
afterAll(async () => {
  service.signal('SIGTERM');
  await service.exited;
  await database.drop();
});

const post = (path: string, length: number | null) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.app}\r\nContent-Type: application/json\r\n${
    length === null ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
  }\r\n\r\n`;

/** What each kind does with its connection, and how long the service may bear it. */
const kinds: Record<string, { readonly withinS: number; behave(socket: Socket): void }> = {
  'says nothing': { withinS: 13, behave: () => undefined },
  'one byte of headers at a time': {
    withinS: 13,
    behave: (socket) => drip(socket, post('/graphql', 10), 200),
  },
  'one byte of a body at a time': {
    withinS: 33,
    behave(socket) {
      socket.write(post('/graphql', 10_000));
      drip(socket, '{'.repeat(10_000), 200);
    },
  },
  'headers without an end': {
    withinS: 13,
    behave: (socket) =>
      flood(socket, `GET / HTTP/1.1\r\n`, 'X-Filling: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n'.repeat(100)),
  },
  'a body without an end to /graphql': {
    withinS: 33,
    behave: (socket) => flood(socket, post('/graphql', null), `4000\r\n${'x'.repeat(16_384)}\r\n`),
  },
  'a body without an end to /oauth/token': {
    withinS: 33,
    behave: (socket) => flood(socket, post('/oauth/token', null), `4000\r\n${'x'.repeat(16_384)}\r\n`),
  },
  'never reads its answers': {
    withinS: 68,
    behave(socket) {
      const body = JSON.stringify({ query: '{ app { users(first: 50) { nodes { id fullName email } } } }' });
      for (let n = 0; n < 5; n++) socket.write(post('/graphql', body.length) + body);
      socket.pause();
      // Else one would not notice that it was closed.
      setTimeout(() => socket.resume(), 66_000);
    },
  },
  'no HTTP': { withinS: 13, behave: (socket) => void socket.write('\x16\x03\x01 this is TLS or so\r\n\r\n') },
  'resets in the middle of a body': {
    withinS: 1,
    behave(socket) {
      socket.write(`${post('/graphql', 1000)}{`);
      setTimeout(() => socket.resetAndDestroy(), 500);
    },
  },
  'resets before its answer': {
    withinS: 1,
    behave(socket) {
      const body = JSON.stringify({ query: '{ app { users { totalCount nodes { id } } } }' });
      socket.write(post('/graphql', body.length) + body);
      setImmediate(() => socket.resetAndDestroy());
    },
  },
};

test('bad clients cost a bounded amount, and nobody else has to wait for them', async () => {
  const before = await memoryMb();
  let mostMb = before;
  let over = false;
  const latencies: number[] = [];
  const goodClient = async () => {
    while (!over) {
      const since = performance.now();
      await ask();
      latencies.push(performance.now() - since);
      mostMb = Math.max(mostMb, await memoryMb());
      await delay(20);
    }
  };
  const good = goodClient();

  const table = await Promise.all(
    Object.entries(kinds).map(async ([kind, { withinS, behave }]) => {
      const lasted = await Promise.all(Array.from({ length: each }, () => untilClosed(behave)));
      return { kind, 'allowed s': withinS, 'longest s': Math.max(...lasted) };
    }),
  );
  over = true;
  await good;
  latencies.sort((one, other) => one - other);
  const p99 = latencies[Math.floor(latencies.length * 0.99)] ?? 0;
  console.table(table);
  console.log(
    `${each} of each; the client beside them: median ${latencies[latencies.length >> 1]?.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms;`,
    `memory ${before} MB, ${mostMb} MB at most`,
  );

  for (const row of table) expect(row['longest s']).toBeLessThan(row['allowed s']);
  expect(mostMb - before).toBeLessThan(mostMemoryMb);
  expect(p99).toBeLessThan(250);
  const failures = service.output.stderr
    .split('\n')
    .filter((line) => line.startsWith('{') && JSON.parse(line).level >= 50);
  expect(failures).toEqual([]);
}, 120_000);

/** How many seconds the service bears it. */
async function untilClosed(behave: (socket: Socket) => void): Promise<number> {
  const socket = connect(Number(new URL(addressOf(service)).port), '127.0.0.1');
  const closed = new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve));
  await once(socket, 'connect');
  const since = performance.now();
  // What is not read would hide that the other side has closed.
  socket.resume();
  behave(socket);
  await closed;
  return Math.round((performance.now() - since) / 100) / 10;
}

/** A character now and then, until the connection ends. */
function drip(socket: Socket, text: string, everyMs: number): void {
  let sent = 0;
  const timer = setInterval(() => socket.write(text.charAt(sent++)), everyMs);
  socket.once('close', () => clearInterval(timer));
}

/** As much as the service takes, until the connection ends; not faster than this process can send it beside everything else. */
function flood(socket: Socket, first: string, then: string): void {
  socket.write(first);
  const timer = setInterval(() => socket.writableNeedDrain || socket.write(then), 100);
  socket.once('close', () => clearInterval(timer));
}

async function ask(): Promise<void> {
  const response = await fetch(`${addressOf(service)}/graphql`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.app}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: '{ app { name } }' }),
  });
  expect(response.status).toBe(200);
  await response.text();
}

async function memoryMb(): Promise<number> {
  const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}
