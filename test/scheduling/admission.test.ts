import { once } from 'node:events';
import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createRefusal } from '../../src/http/admission/refuseOverload.ts';
import { type HttpServer, listen } from '../../src/http/server.ts';
import { createLog } from '../../src/log.ts';
import { createAdmission, type Permit } from '../../src/scheduling/admission.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';

describe('admission', () => {
  let clock: TestClock;
  let server: HttpServer;
  let agent: Agent;
  let admit: ReturnType<typeof createAdmission>;
  let permits: Map<string, Permit>;
  /** Those that were let in and have no answer yet, by their paths. */
  let admitted: Map<string, ServerResponse>;
  /** The responses to all requests that have come, by their paths in the order in which they came. */
  let arrived: Map<string, ServerResponse>;
  /** How many had arrived when each was let in. */
  let arrivedWhenAdmitted: number[];
  /** How long each had waited when it was let in. */
  let waitedMs: Map<string, number>;
  /** Keeps requests until all of them are there, so that they come in one event-loop tick. */
  let hold: ((path: string, arrive: () => void) => void) | null;
  let closed: Set<string>;
  let whenAdmitted: (response: ServerResponse) => void;
  let overloads: (number | null)[];
  let underWay: Promise<unknown>[];
  /** How many requests were sent whose answers the client does not have. */
  let unanswered: number;
  /** The responses that the server has not closed. */
  let open: Set<ServerResponse>;

  beforeEach(async () => {
    clock = createTestClock();
    admitted = new Map();
    overloads = [];
    underWay = [];
    permits = new Map();
    agent = new Agent({ keepAlive: true });
    admit = admitWith({ maxWaiting: 2 });
    arrived = new Map();
    arrivedWhenAdmitted = [];
    waitedMs = new Map();
    hold = null;
    closed = new Set();
    whenAdmitted = () => undefined;
    unanswered = 0;
    open = new Set();
    server = await listen('127.0.0.1', 0, (request, response) => {
      const path = request.url ?? '';
      open.add(response);
      response.once('close', () => {
        open.delete(response);
        closed.add(path);
      });
      const arrive = () => {
        arrived.set(path, response);
        admit({
          path: flowOf(path),
          hasLeft: () => response.closed,
          refuse: () => refuse(request, response),
          begin(permit, ms) {
            response.once('close', permit.end);
            permits.set(path, permit);
            arrivedWhenAdmitted.push(arrived.size);
            waitedMs.set(path, ms);
            admitted.set(path, response);
            whenAdmitted(response);
          },
        });
      };
      if (hold) hold(path, arrive);
      else arrive();
    });
  });

  afterEach(async () => {
    answerAll();
    await passUntilAnswered(underWay);
    agent.destroy();
    await server.stop(0);
  });

  it('admits 32 requests at once, and the next when one of them has its answer', async () => {
    const sent = await fill();
    const late = send('/late');
    await until(() => arrived.has('/late'));
    await stays(() => !admitted.has('/late'));

    await clock.advance(7);
    admitted.get('/1')?.end();
    await until(() => admitted.has('/late'));
    admitted.get('/late')?.end('served');

    expect(await late).toMatchObject({ status: 200, body: 'served' });
    expect(waitedMs.get('/late')).toBe(7);
    expect(sent).toHaveLength(32);
    expect(overloads).toEqual([]);
  });

  it('admits a few requests of a burst before it has seen all of it', async () => {
    await fill();

    expect(arrivedWhenAdmitted.slice(0, 4)).toEqual([1, 2, 3, 4]);
    expect(new Set(arrivedWhenAdmitted.slice(4))).toEqual(new Set([32]));
    expect(overloads).toEqual([]);
  });

  it('refuses a request that has waited too long, overloaded or not', async () => {
    await fill();
    const late = send('/late');
    await until(() => arrived.has('/late'));

    await clock.advance(1000);
    expect(arrived.get('/late')?.writableEnded).toBe(false);
    await clock.advance(5);
    expect((await late).status).toBe(503);
    expect(overloads).toEqual([]);
  });

  it('sheds load soon when too many wait, and reports the overload once', async () => {
    await fill();

    const sent = await sendTogether(['/oauth/token', '/oauth/a', '/oauth/b', '/oauth/c']);
    const refused = await passUntilAnswered(sent);

    for (const { status, headers, body, tookMs } of refused) {
      expect(status).toBe(503);
      expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
      expect(headers['cache-control']).toBe('no-store');
      expect(JSON.parse(body)).toEqual({ error: 'temporarily_unavailable', error_description: expect.any(String) });
      expect(tookMs).toBeLessThanOrEqual(10);
    }
    expect(overloads).toEqual([null]);
    await clock.advance(1005);
    expect(overloads).toEqual([null, 4]);
  });

  it('is overloaded until no request was refused for a second', async () => {
    const sent = await overwhelm();

    for (const response of admitted.values()) response.end();
    await Promise.all(sent);
    const next = send('/next');
    await until(() => admitted.has('/next'));
    admitted.get('/next')?.end();

    expect((await next).status).toBe(200);
    await clock.advance(1000);
    expect(overloads).toEqual([null]);
    await clock.advance(5);
    expect(overloads).toEqual([null, 3]);
  });

  it('serves clients that retry at once, when they can be served', async () => {
    // 8 are let in at once, and 5 in an overload: of 10 clients there are always some too many.
    admit = admitWith({ connections: 5, maxWaiting: 5 });
    whenAdmitted = (response) => clock.setTimeout(() => response.end(), 50);
    await fill(8);
    let isOver = false;
    const clients = Array.from({ length: 10 }, async (_, client) => {
      for (let n = 0; !isOver; n++) {
        await send(`/${client}-${n}`);
        // As long as an answer and the next request are on their way.
        await new Promise<void>((resolve) => clock.setTimeout(resolve, 5));
      }
    });

    const since = clock.now();
    while (overloads.length < 2 && clock.now() - since < 20_000) await passTick();
    const elapsedMs = clock.now() - since;
    isOver = true;
    await passUntilAnswered(clients);

    expect(overloads.slice(0, 2)).toEqual([null, expect.any(Number)]);
    // Until it was tried, and another second.
    expect(elapsedMs).toBeGreaterThan(5000);
    expect(elapsedMs).toBeLessThan(6100);
  });

  it('serves the newest first in an overload', async () => {
    await overwhelm();
    answerAll();
    await Promise.all(underWay);
    for (const all of [admitted, arrived]) all.clear();
    arrivedWhenAdmitted = [];

    await Promise.all(await sendTogether(['/a', '/b']));

    expect(arrivedWhenAdmitted[0]).toBe(2);
    expect([...admitted.keys()][0]).toBe([...arrived.keys()][1]);
  });

  it('admits no request at the end of a long event-loop tick, in an overload', async () => {
    await overwhelm();
    answerAll();
    await Promise.all(underWay);

    const sent = await sendTogether(['/next']);
    clock.compute(3);
    await ticks();
    expect(admitted.has('/next')).toBe(false);

    // The next tick is short.
    const [answer] = await passUntilAnswered(sent);
    expect(answer?.status).toBe(200);
  });

  it('serves a burst in the order in which it came, and all of it', async () => {
    const burst = Array.from({ length: 300 }, (_, index) => `/burst-${index}`);
    admit = admitWith({ maxWaiting: 300 });
    await fill();
    arrived.clear();

    const sent = await sendTogether(burst);
    const order = [...arrived.keys()];
    answerAll();
    const answers = await Promise.all(sent);

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect([...admitted.keys()].slice(32)).toEqual(order);
    expect(overloads).toEqual([]);
  });

  it('keeps only the newest in an overload while the thread never rests', async () => {
    await overwhelm();
    const comeTogether = async () => {
      const sent = await sendTogether(['/a', '/b']);
      await ticks();
      const refusedAtOnce = ['/a', '/b'].map((path) => arrived.get(path)?.writableEnded);
      const answers = await passUntilAnswered(sent);
      expect(answers.map(({ status }) => status)).toEqual([503, 503]);
      return refusedAtOnce;
    };

    for (let ticks = 0; ticks < 5; ticks++) {
      clock.compute(5);
      await clock.advance(0);
    }
    expect(await comeTogether()).toEqual([true, false]);

    // Not until it is tried whether the overload can end.
    await clock.advance(50);
    expect(await comeTogether()).toEqual([false, false]);
  });

  it('admits others while a permit is paused, and counts it once when its client leaves meanwhile', async () => {
    await fill();
    for (const path of ['/1', '/2']) permits.get(path)?.pause();
    permits.get('/2')?.pause();
    const [first, second, third] = ['/first', '/second', '/third'].map((path) => send(path));
    await until(() => arrived.size === 35 && admitted.size === 34);

    admitted.get('/1')?.end();
    await until(() => closed.has('/1'));
    permits.get('/1')?.resume();
    permits.get('/2')?.resume();
    permits.get('/2')?.resume();
    await stays(() => admitted.size === 34);

    // There are 33 in: of these two have to be answered until the next is let in.
    const [one, other] = [...admitted.keys()].filter((path) => /^.\w+$/.test(path)).slice(-2);
    admitted.get(one ?? '')?.end();
    await stays(() => admitted.size === 34);
    admitted.get(other ?? '')?.end();
    await until(() => admitted.size === 35);
    answerAll();
    await Promise.all([first, second, third]);
  });

  it("serves another tenant during a tenant's overload, first and without refusing it", async () => {
    admit = admitWith({ maxWaiting: 4 });
    await fill();
    const neighbours = ['/neighbour-1', '/neighbour-2'];

    const sent = await sendTogether(['/a', '/b', '/c', ...neighbours, '/d']);
    await until(() => admitted.size === 33);
    expect([...admitted.keys()].at(-1)).toMatch('/neighbour');
    await clock.advance(10);
    whenAdmitted = (response) => response.end();
    for (const response of admitted.values()) response.end();
    const answers = await passUntilAnswered(sent);

    expect(answers.slice(3, 5).map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[0]?.status).toBe(503);
    expect(overloads).toEqual([null]);
  });

  it('admits as few of an overloaded tenant as leave the thread idle moments, and of others as before', async () => {
    const before = await overwhelm();
    for (const response of admitted.values()) response.end();
    await Promise.all(before);
    for (let ticks = 0; ticks < 5; ticks++) {
      clock.compute(5);
      await clock.advance(0);
    }

    const neighbours = Array.from({ length: 8 }, (_, index) => `/neighbour-${index}`);
    const sent = await sendTogether(['/a', '/b', ...neighbours]);
    await until(() => neighbours.every((path) => admitted.has(path)));
    await passTick();
    await passTick();

    expect(['/a', '/b'].map((path) => [admitted.has(path), arrived.get(path)?.writableEnded])).toEqual([
      [false, true],
      [true, false],
    ]);
    answerAll();
    await Promise.all(sent);
  });

  it('sheds what many tenants send together, each of them little, at once', async () => {
    admit = admitWith({ maxWaiting: 4 });
    const held = await fill();
    const many = Array.from({ length: 60 }, (_, index) => `/of/tenant-${index}/1`);

    const sent = await sendTogether(many);
    await passTick();
    await passTick();
    const refused = many.filter((path) => arrived.get(path)?.writableEnded);
    expect(refused.length).toBeGreaterThan(0);
    const waiting = many.filter((path) => !admitted.has(path) && !refused.includes(path));
    expect(waiting.length).toBeLessThanOrEqual(4);
    answerAll();
    const answers = await passUntilAnswered(sent);

    expect(many.filter((_, index) => answers[index]?.status === 503)).toEqual(refused);
    expect(overloads).toEqual([null]);
    await Promise.all(held);
  });

  it("sheds what one address sends, and not what another sends, nor a tenant's", async () => {
    admit = admitWith({ maxWaiting: 4 });
    const held = await fill();
    const hostile = Array.from({ length: 8 }, (_, index) => `/of/strangers/hostile/${index}`);
    const others = ['/of/strangers/other/1', '/neighbour-1'];

    const sent = await sendTogether([...hostile, ...others]);
    await passTick();
    await passTick();
    expect(hostile.filter((path) => arrived.get(path)?.writableEnded).length).toBeGreaterThan(3);
    answerAll();
    const answers = await passUntilAnswered(sent);

    expect(answers.slice(hostile.length).map(({ status }) => status)).toEqual([200, 200]);
    await Promise.all(held);
  });

  it('admits a tenant that holds no permit, though another one holds all', async () => {
    await fill();

    const sent = await sendTogether(['/neighbour-1', '/neighbour-2', '/next']);
    await stays(() => admitted.size === 33);

    expect([...admitted.keys()].at(-1)).toBe('/neighbour-1');
    // It has used less than the other, whose request came as early.
    clock.compute(2000);
    admitted.get('/1')?.end();
    await until(() => admitted.size === 34);
    expect([...admitted.keys()].at(-1)).toBe('/neighbour-2');
    answerAll();
    await Promise.all(sent);
  });

  it('keeps the queue when a request of its tenant resumes its permit', async () => {
    const first = send('/first');
    await until(() => admitted.has('/first'));
    permits.get('/first')?.pause();
    const sent = await fill();
    const late = send('/late');
    await until(() => arrived.has('/late'));
    permits.get('/first')?.resume();

    admitted.get('/1')?.end();
    await stays(() => !admitted.has('/late'));
    admitted.get('/first')?.end();
    await until(() => admitted.has('/late'));
    answerAll();
    await Promise.all([first, late, ...sent]);
  });

  it('queues a paused request again, and refuses it when it waits too long', async () => {
    const slow = ['/slow', '/slower'].map((path) => send(path));
    await until(() => admitted.size === 2);
    const [permit, other] = ['/slow', '/slower'].map((path) => permits.get(path));
    permit?.pause();
    other?.pause();
    const sent = await fill();
    const goneOn: string[] = [];
    permit?.resumeQueued().then(() => goneOn.push('/slow'));
    other?.resumeQueued().then(() => goneOn.push('/slower'));
    await stays(() => goneOn.length === 0);

    admitted.get('/1')?.end();
    await until(() => goneOn.length === 1);
    await clock.advance(1005);
    expect((await slow[1])?.status).toBe(503);
    expect(goneOn).toEqual(['/slow']);

    // It holds a permit again.
    const late = send('/late');
    await until(() => arrived.has('/late'));
    await stays(() => !admitted.has('/late'));
    admitted.get('/slow')?.end('served');
    await until(() => admitted.has('/late'));
    expect((await slow[0])?.body).toBe('served');
    answerAll();
    await Promise.all([late, ...sent]);
  });

  it('charges a request to a tenant that is known later', async () => {
    await fill();
    for (const path of ['/1', '/2', '/3']) permits.get(path)?.moveTo(['neighbour']);
    const sent = await sendTogether(['/next', '/neighbour']);

    clock.compute(100);
    admitted.get('/4')?.end();
    await until(() => admitted.size === 33);

    // It has 3 in by now, and the other 28.
    expect([...admitted.keys()].at(-1)).toBe('/neighbour');
    answerAll();
    await Promise.all(sent);
  });

  it('forgets requests whose clients have left', async () => {
    await fill();
    const gone = request({ port: server.port, path: '/gone' }).on('error', () => undefined);
    gone.end();
    await until(() => arrived.has('/gone'));
    const late = send('/late');
    await until(() => arrived.has('/late'));
    gone.destroy();
    await until(() => closed.has('/gone'));

    admitted.get('/1')?.end();
    await until(() => admitted.has('/late'));
    admitted.get('/late')?.end();

    expect((await late).status).toBe(200);
    expect(admitted.has('/gone')).toBe(false);
  });

  /** `/of/strangers/1.2.3.4/1` is of such an address; what names none is the tenant's. */
  function flowOf(path: string): string[] {
    if (path.startsWith('/neighbour')) return ['neighbour'];
    return path.startsWith('/of/') ? path.split('/').slice(2, -1) : ['tenant'];
  }

  /** With so many connections 32 are let in at once, unless said. */
  function admitWith({ connections = 21, maxWaiting }: { connections?: number; maxWaiting: number }) {
    // An overload may last longer than its test.
    const heard = overloads;
    return createAdmission(
      { connections, maxWaiting, waitMs: 1000, onOverload: ({ refused = null }) => heard.push(refused) },
      clock,
    );
  }

  /** As many as are let in at once. */
  async function fill(count = 32): Promise<Promise<Received>[]> {
    const before = admitted.size;
    const sent = await sendTogether(Array.from({ length: count }, (_, index) => `/${index}`));
    await until(() => admitted.size === before + count);
    return sent;
  }

  /** As many, and then more than may wait, all of which are refused within 10 ms. */
  async function overwhelm(): Promise<Promise<Received>[]> {
    const sent = await fill();
    await passUntilAnswered(await sendTogether(['/first', '/second', '/third']));
    return sent;
  }

  /** Answers all that were let in, and from now on at once. */
  function answerAll(): void {
    whenAdmitted = (response) => response.end();
    for (const response of admitted.values()) response.end();
  }

  /** Sends requests that come in this order and in one event-loop tick; resolves in this tick. */
  async function sendTogether(paths: string[]): Promise<Promise<Received>[]> {
    const held = new Map<string, () => void>();
    hold = (path, arrive) => held.set(path, arrive);
    const sent = paths.map((path) => send(path));
    await until(() => held.size === paths.length);
    hold = null;
    for (const path of paths) held.get(path)?.();
    return sent;
  }

  /** Advances the clock until all requests have their answers, but never while a request or an answer is on its way. */
  async function passUntilAnswered<T>(sent: Promise<T>[]): Promise<T[]> {
    let isAnswered = false;
    const answers = Promise.all(sent).finally(() => {
      isAnswered = true;
    });
    await arrivals();
    while (!isAnswered) await passTick();
    return answers;
  }

  async function passTick(): Promise<void> {
    await clock.advance(5);
    await arrivals();
  }

  /** Resolves when no request and no answer is on its way: each request has its answer, or has come and waits. */
  async function arrivals(): Promise<void> {
    const areHere = () => [...open].filter(({ writableEnded }) => !writableEnded).length === unanswered;
    do {
      await until(areHere);
      await ticks();
    } while (!areHere());
  }

  function send(path: string, headers: Record<string, string> = {}, body?: string): Promise<Received> {
    unanswered++;
    const answer = sendOnce(path, headers, body).finally(() => unanswered--);
    underWay.push(answer);
    return answer;
  }

  async function sendOnce(path: string, headers: Record<string, string>, body?: string): Promise<Received> {
    const since = clock.now();
    const method = body === undefined ? 'GET' : 'POST';
    const sent = request({ port: server.port, agent, path, headers, method });
    if (body === undefined) sent.end();
    else sent.write(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    sent.end();
    const chunks = await response.toArray();
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: chunks.join(''),
      tookMs: clock.now() - since,
    };
  }
});

const refuse = createRefusal({ log: createLog('silent'), isHttps: false, corsOrigins: [] });

type Received = { status: number; headers: IncomingMessage['headers']; body: string; tookMs: number };

const tick = () => new Promise((resolve) => setImmediate(resolve));

/** More event-loop ticks than a request that can be let in, or that is to be refused, has to wait for. */
async function ticks(): Promise<void> {
  for (let count = 0; count < 5; count++) await tick();
}

/** Resolves in the event-loop tick in which the condition holds. Fails after 20 s. */
async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`This did not come true: ${condition}`);
    await tick();
  }
}

/** Holds for some event-loop ticks. */
async function stays(condition: () => boolean): Promise<void> {
  for (let count = 0; count < 20; count++) {
    await tick();
    expect(condition()).toBe(true);
  }
}
