import { once } from 'node:events';
import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createListener } from '../../src/http/admission/listener.ts';
import { createRefusal } from '../../src/http/admission/refuseOverload.ts';
import { type HttpServer, listen } from '../../src/http/server.ts';
import { createLog } from '../../src/log.ts';
import { createMetrics } from '../../src/observability/metrics/createMetrics.ts';
import { identifyCaller, requeueCaller, withoutPermit } from '../../src/scheduling/caller.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';

/** With two connections this many requests are served at once. */
const slots = 3;
const slotsInOverload = 2;
const settings = { poolSize: 2, poolWaitMs: 1000, trustedProxies: 0, replicaUrl: undefined };

let clock: TestClock;
let server: HttpServer;
let agent: Agent;
let arrived: number;
/** The responses of the requests that were admitted and not answered, by their paths, in the order of their admission. */
let admitted: Map<string, ServerResponse>;
let answersAtOnce: boolean;
let closed: Set<string>;
let refused: (string | undefined)[];
let logged: object[];
let work: (request: IncomingMessage) => Promise<void>;

beforeEach(async () => {
  clock = createTestClock();
  agent = new Agent({ keepAlive: true });
  arrived = 0;
  admitted = new Map();
  answersAtOnce = false;
  closed = new Set();
  logged = [];
  refused = [];
  work = async () => undefined;
  await start(4);
});

afterEach(async () => {
  agent.destroy();
  await server.stop(0);
});

it('serves as many as it may at once, and the next when one of them has its answer', async () => {
  const sent = await fill();
  const late = send('/late');
  await arrive(slots + 1);
  expect(admitted.has('/late')).toBe(false);

  answer('/0');
  await until(() => admitted.has('/late'));
  answer('/late');

  expect(await late).toMatchObject({ status: 200 });
  answerAll();
  expect(await statuses(sent)).toEqual([200, 200, 200]);
  expect(logged).toEqual([]);
});

it('refuses a request that has waited too long', async () => {
  const sent = await fill();
  const late = send('/oauth/late');
  await arrive(slots + 1);

  await clock.advance(999);
  expect(closed.has('/oauth/late')).toBe(false);
  await clock.advance(2);

  const { status, headers, body } = await late;
  expect(status).toBe(503);
  expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
  expect(headers['cache-control']).toBe('no-store');
  expect(JSON.parse(body)).toEqual({ error: 'temporarily_unavailable', error_description: expect.any(String) });
  // A slow database is no overload.
  expect(logged).toEqual([]);
  answerAll();
  expect(await statuses(sent)).toEqual([200, 200, 200]);
});

it('sheds load when too many wait, and logs the overload when it begins and when it is over', async () => {
  const sent = await fill();
  const waiting = [1, 2, 3, 4].map((n) => send(`/waiting-${n}`));
  await arrive(slots + 4);

  // No other tenant waits, so that one too many is refused at once.
  expect((await send('/one-too-many')).status).toBe(503);
  // Then the others wait for a few milliseconds only.
  await clock.advance(6);
  expect(await statuses(waiting)).toEqual([503, 503, 503, 503]);
  expect(logged).toEqual([expect.objectContaining({ tenant: 'sign-in' })]);
  expect(closed.has('/0')).toBe(false);

  await clock.advance(500);
  const later = send('/later');
  await arrive(slots + 6);
  await clock.advance(500);
  expect((await later).status).toBe(503);
  expect(logged).toHaveLength(1);

  await clock.advance(1600);
  expect(logged.slice(1)).toEqual([expect.objectContaining({ refused: 6 })]);
  answerAll();
  expect(await statuses(sent)).toEqual([200, 200, 200]);
});

it('serves fewer requests at once in an overload, so that each takes less time', async () => {
  await overload();
  const sent = await fill('busy', slotsInOverload);
  const late = send('/busy-late', { authorization: 'busy' });
  await arrive(slotsInOverload + 1);

  expect(admitted.has('/busy-late')).toBe(false);
  await clock.advance(6);
  expect((await late).status).toBe(503);
  answerAll();
  expect(await statuses(sent)).toEqual([200, 200]);
});

it('serves again as before when an overload is over', async () => {
  await overload();
  // As long as refused clients are asked to wait.
  await clock.advance(2000);
  const sent = await fill('busy');
  const late = send('/late', { authorization: 'busy' });
  await arrive(slots + 1);

  await clock.advance(900);
  expect(closed.has('/late')).toBe(false);
  answerAll();

  expect(await statuses([...sent, late])).toEqual([200, 200, 200, 200]);
});

it("serves another tenant during a tenant's overload as before", async () => {
  await identified('neighbour');
  await overload();
  const sent = await fill('busy', slotsInOverload);
  const neighbours = [send('/neighbour-1', { authorization: 'neighbour' })];
  await until(() => admitted.has('/neighbour-1'));
  neighbours.push(send('/neighbour-2', { authorization: 'neighbour' }));
  const own = send('/busy-late', { authorization: 'busy' });
  await arrive(slotsInOverload + 3);

  await clock.advance(100);

  expect((await own).status).toBe(503);
  expect(closed.has('/neighbour-2')).toBe(false);
  answerAll();
  expect(await statuses([...sent, ...neighbours])).toEqual([200, 200, 200, 200]);
});

it('admits a tenant that holds no permit, though another one holds all, and then in turns', async () => {
  await identified('neighbour');
  const sent = await fill();
  const others = [send('/neighbour-1', { authorization: 'neighbour' })];
  await until(() => admitted.has('/neighbour-1'));
  others.push(send('/neighbour-2', { authorization: 'neighbour' }));
  await arrive(slots + 2);
  const next = send('/next');
  await arrive(slots + 3);
  expect([...admitted.keys()].at(-1)).toBe('/neighbour-1');

  clock.compute(500);
  answer('/0');

  await until(() => admitted.size === slots + 1);
  expect([...admitted.keys()].at(-1)).toBe('/neighbour-2');
  answerAll();
  expect(await statuses([...sent, ...others, next])).toEqual([200, 200, 200, 200, 200, 200]);
});

it('admits others while the permit of a request is paused, such as while it verifies a password', async () => {
  const elsewhere = Promise.withResolvers<void>();
  work = ({ url }) => (url === '/0' ? withoutPermit(() => elsewhere.promise) : Promise.resolve());
  const sent = [send('/0'), send('/1'), send('/2'), send('/3')];
  await until(() => admitted.size === slots && !admitted.has('/0'));

  elsewhere.resolve();
  await until(() => admitted.has('/0'));
  const late = send('/late');
  await arrive(slots + 2);
  answer('/1');
  await turns();
  // Four were served at once.
  expect(admitted.has('/late')).toBe(false);
  answerAll();
  expect(await statuses([...sent, late])).toEqual([200, 200, 200, 200, 200]);
});

it('admits others while a body is read, whose request then queues again', async () => {
  work = async (incoming) => {
    for await (const _chunk of incoming);
    await requeueCaller();
  };
  const slow = ['/slow', '/slower'].map((path) => begin(path));
  await arrive(2);
  const sent = await fill();
  for (const { finish } of slow) finish();
  await turns();
  expect(admitted.size).toBe(slots);

  answer('/0');
  await until(() => ['/slow', '/slower'].some((path) => admitted.has(path)));
  await clock.advance(1001);
  answerAll();

  const answers = await statuses(slow.map((request) => request.answer));
  expect(answers.toSorted()).toEqual([200, 503]);
  expect(await statuses(sent)).toEqual([200, 200, 200]);
});

it('forgets a request whose client has disconnected', async () => {
  const sent = await fill();
  const gone = request({ port: server.port, path: '/gone' }).on('error', () => undefined);
  gone.end();
  await arrive(slots + 1);
  const late = send('/late');
  await arrive(slots + 2);
  gone.destroy();
  await until(() => closed.has('/gone'));

  answer('/0');
  await until(() => admitted.has('/late'));
  expect(admitted.has('/gone')).toBe(false);
  answerAll();
  expect(await statuses([...sent, late])).toEqual([200, 200, 200, 200]);
});

it('refuses nothing to a client that disconnects while its request queues again', async () => {
  work = async (incoming) => {
    for await (const _chunk of incoming);
    await requeueCaller();
  };
  const leaving = begin('/leaving');
  await arrive(1);
  const sent = await fill();
  leaving.finish();
  await turns();

  const failed = expect(leaving.answer).rejects.toThrow('socket hang up');
  leaving.leave();
  await until(() => closed.has('/leaving'));

  expect(refused).toEqual([]);
  await failed;
  answerAll();
  expect(await statuses(sent)).toEqual([200, 200, 200]);
});

it('charges a request to its organization when that is known', async () => {
  work = async () => identifyCaller('organization');
  const sent = await fill('new');
  const [known, stranger] = [send('/known', { authorization: 'new' }), send('/stranger')];
  // It has no permit of its tenant yet.
  await until(() => admitted.has('/stranger'));

  clock.compute(500);
  await turns();
  expect(admitted.has('/known')).toBe(false);
  answerAll();
  expect(await statuses([...sent, known, stranger])).toEqual([200, 200, 200, 200, 200]);
});

it('always answers health checks', async () => {
  const sent = await fill();

  const checks = ['/healthz', '/readyz'].map((path) => send(path));
  await until(() => admitted.has('/healthz') && admitted.has('/readyz'));

  answerAll();
  expect(await statuses([...sent, ...checks])).toEqual([200, 200, 200, 200, 200]);
});

/** Starts a server whose requests wait until the test answers them. */
async function start(maxWaiting: number): Promise<void> {
  const log = createLog('info', { write: (line) => logged.push(JSON.parse(line)) });
  const onRequest = createListener(
    {
      answer: async (incoming, response) => {
        const organization = incoming.headers.authorization;
        if (organization) identifyCaller(organization);
        await work(incoming);
        if (answersAtOnce) response.end();
        else admitted.set(incoming.url ?? '', response);
      },
      refuse(incoming, response) {
        refused.push(incoming.url);
        refuse(incoming, response);
      },
      config: { ...settings, maxWaiting },
      metrics: createMetrics(),
      routeOf: (url) => url,
      log,
    },
    clock,
  );
  server = await listen('127.0.0.1', 0, (incoming, response) => {
    arrived++;
    response.once('close', () => closed.add(incoming.url ?? ''));
    onRequest(incoming, response);
  });
}

const refuse = createRefusal({ log: createLog('silent'), isHttps: false, corsOrigins: [] });

type Received = { status: number; headers: IncomingMessage['headers']; body: string };

function begin(path: string, headers: Record<string, string> = {}, method = 'POST') {
  const sent = request({ port: server.port, agent, path, headers, method });
  if (method === 'POST') sent.write('body');
  const received = async (): Promise<Received> => {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const chunks = await response.toArray();
    return { status: response.statusCode ?? 0, headers: response.headers, body: chunks.join('') };
  };
  return { answer: received(), finish: () => sent.end(), leave: () => sent.destroy() };
}

function send(path: string, headers: Record<string, string> = {}): Promise<Received> {
  const sent = begin(path, headers, 'GET');
  sent.finish();
  return sent.answer;
}

/** As many requests as are served at once. */
async function fill(authorization = '', count = slots): Promise<Promise<Received>[]> {
  answersAtOnce = false;
  const before = admitted.size;
  const headers = authorization ? { authorization } : {};
  const sent = Array.from({ length: count }, (_, n) => send(`/${authorization}${n}`, headers));
  await until(() => admitted.size === before + count);
  return sent;
}

/** The tenant of this credential is known from now on. */
async function identified(authorization: string): Promise<void> {
  answersAtOnce = false;
  const sent = send('/identified', { authorization });
  await until(() => admitted.has('/identified'));
  answer('/identified');
  await sent;
  arrived = 0;
}

/** More requests than may wait, all of which are refused or served. */
async function overload(): Promise<void> {
  await identified('busy');
  const headers = { authorization: 'busy' };
  const sent = await fill('busy');
  const more = [1, 2, 3, 4, 5].map((n) => send(`/more-${n}`, headers));
  await arrive(slots + 5);
  await clock.advance(6);
  answerAll();
  expect(await statuses([...sent, ...more])).toEqual([200, 200, 200, 503, 503, 503, 503, 503]);
  await turns();
  arrived = 0;
}

function answer(path: string): void {
  admitted.get(path)?.end();
  admitted.delete(path);
}

/** Answers all that were admitted, and all that are from now on. */
function answerAll(): void {
  answersAtOnce = true;
  for (const path of [...admitted.keys()]) answer(path);
}

const statuses = async (sent: readonly (Promise<Received> | undefined)[]) =>
  (await Promise.all(sent)).map((received) => received?.status);

const arrive = async (count: number) => {
  await until(() => arrived >= count);
  await turns();
};

/** Resolves in the turn of the event loop in which the condition holds. Fails after 20 s. */
async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`This did not come true: ${condition}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function turns(): Promise<void> {
  for (let count = 0; count < 20; count++) await new Promise((resolve) => setImmediate(resolve));
}
