import { once } from 'node:events';
import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createAdmission } from '../../src/http/admission.ts';
import { stepAside } from '../../src/http/aside.ts';
import { type HttpServer, listen } from '../../src/http/server.ts';
import { compute } from '../support/compute.ts';
import { until } from '../support/until.ts';

describe('admission', () => {
  let server: HttpServer;
  let agent: Agent;
  let admit: ReturnType<typeof createAdmission>;
  let isDatabaseBusy: boolean;
  /** Those that were let in and have no answer yet, by their paths. */
  let admitted: Map<string, ServerResponse>;
  let arrived: Set<string>;
  /** How many had arrived when each was let in. */
  let arrivedWhenAdmitted: number[];
  let closed: Set<string>;
  let whenArrived: (response: ServerResponse) => void;
  let overloads: (number | null)[];
  let underWay: Promise<unknown>[];

  beforeEach(async () => {
    admitted = new Map();
    overloads = [];
    underWay = [];
    isDatabaseBusy = false;
    agent = new Agent({ keepAlive: true });
    admit = admitWith({ mostWaiting: 2 });
    arrived = new Set();
    arrivedWhenAdmitted = [];
    closed = new Set();
    whenArrived = () => undefined;
    server = await listen('127.0.0.1', 0, (request, response) => {
      const path = request.url ?? '';
      response.once('close', () => closed.add(path));
      arrived.add(path);
      whenArrived(response);
      admit(request, response, () => {
        arrivedWhenAdmitted.push(arrived.size);
        admitted.set(path, response);
      });
    });
  });

  afterEach(async () => {
    const answerAll = setInterval(() => [...admitted.values()].map((response) => response.end()), 5);
    await Promise.all(underWay);
    clearInterval(answerAll);
    agent.destroy();
    await server.stop(0);
  });

  it('lets 32 in at once, and the next when one of them has its answer', async () => {
    const sent = await fill();
    const late = send('/late');
    await stays(() => !admitted.has('/late'));

    admitted.get('/1')?.end();
    await until(() => admitted.has('/late'));
    admitted.get('/late')?.end('served');

    expect(await late).toMatchObject({ status: 200, body: 'served' });
    expect(sent).toHaveLength(32);
    expect(overloads).toEqual([]);
  });

  it('lets in a few of those who come together before it has seen them all', async () => {
    const comeTogether = async () => {
      for (const all of [admitted, arrived]) all.clear();
      arrivedWhenAdmitted = [];
      const sent = await fill();
      for (const response of admitted.values()) response.end();
      await Promise.all(sent);
    };
    // The first connect; and where the machine stops meanwhile, the next do not come together.
    for (let attempt = 0; attempt < 5 && arrivedWhenAdmitted[4] !== 32; attempt++) await comeTogether();

    expect(arrivedWhenAdmitted.slice(0, 4)).toEqual([1, 2, 3, 4]);
    expect(new Set(arrivedWhenAdmitted.slice(4))).toEqual(new Set([32]));
    expect(overloads).toEqual([]);
  });

  it('refuses whoever has waited too long, overloaded or not', async () => {
    await fill();

    expect((await send('/late')).status).toBe(503);
    expect(overloads).toEqual([]);
  });

  it('refuses soon when too many wait, and says so once', async () => {
    await fill();

    const refused = await Promise.all(['/oauth/token', '/oauth/a', '/oauth/b', '/oauth/c'].map((path) => send(path)));

    for (const { status, headers, body, tookMs } of refused) {
      expect(status).toBe(503);
      expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
      expect(headers['cache-control']).toBe('no-store');
      expect(JSON.parse(body)).toEqual({ error: 'temporarily_unavailable', error_description: expect.any(String) });
      expect(tookMs).toBeLessThan(250);
    }
    await until(() => overloads.length === 2);
    expect(overloads).toEqual([null, 4]);
  });

  it('is overloaded until nobody had to be refused for a second', async () => {
    const sent = await overwhelm();
    const since = performance.now();

    for (const response of admitted.values()) response.end();
    await Promise.all(sent);
    const next = send('/next');
    await until(() => admitted.has('/next'));
    admitted.get('/next')?.end();

    expect((await next).status).toBe(200);
    expect(overloads).toEqual([null]);
    await until(() => overloads.length === 2);
    expect(performance.now() - since).toBeGreaterThan(900);
  });

  it('serves those who ask again at once, when they can be served', async () => {
    await fill();
    const answering = setInterval(() => {
      for (const response of admitted.values()) setTimeout(() => response.end(), 50);
      admitted.clear();
    }, 5);
    let isOver = false;
    const clients = Array.from({ length: 40 }, async (_, client) => {
      for (let n = 0; !isOver; n++) await send(`/${client}-${n}`);
    });

    await until(() => overloads.length >= 2).finally(() => {
      isOver = true;
    });
    await Promise.all(clients);
    clearInterval(answering);

    expect(overloads.slice(0, 2)).toEqual([null, expect.any(Number)]);
  });

  it('speaks GraphQL to clients of GraphQL, and plainly to people', async () => {
    await fill();
    const paths = ['/graphql', '/GraphQL/?query=x', 'http://x/graphql', '/graphqlx', '/oauth/authorize'];
    const accepts = ['application/graphql-response+json', '*/*', '*/*', '*/*', 'text/html'];

    const refused = await Promise.all(paths.map((path, index) => send(path, { Accept: accepts[index] ?? '' })));

    const error = { message: expect.any(String), extensions: { code: 'UNAVAILABLE' } };
    expect(refused.map(({ headers }) => headers['content-type'])).toEqual([
      'application/graphql-response+json; charset=utf-8',
      'application/json; charset=utf-8',
      'application/json; charset=utf-8',
      'application/json; charset=utf-8',
      'text/plain; charset=utf-8',
    ]);
    expect(refused.slice(0, 3).map(({ body }) => JSON.parse(body))).toEqual(Array(3).fill({ errors: [error] }));
    expect(JSON.parse(refused[3]?.body ?? '')).toMatchObject({ error: 'temporarily_unavailable' });
    expect(refused[4]?.body).toContain('try again later');
  });

  it('serves the newest first in an overload', async () => {
    // Where the machine stops for the 5 ms that each may wait, nobody is served; then it is tried again.
    await until(async () => {
      if (overloads.at(-1) !== null) await overwhelm();
      for (const response of admitted.values()) response.end();
      for (const all of [admitted, arrived]) all.clear();
      arrivedWhenAdmitted = [];
      await answered([send('/a'), send('/b')]);
      return arrivedWhenAdmitted[0] === 2;
    });

    expect([...admitted.keys()][0]).toBe([...arrived][1]);
  });

  it('serves a crowd that has just come newest first, and all of it', async () => {
    const crowd = Array.from({ length: 70 }, (_, index) => `/crowd-${index}`);
    let firstServed: string | undefined;
    let lastArrived: string | undefined;
    // Where the machine stops for the 100 ms in which it is new, it is served in turn.
    for (let attempt = 0; attempt < 5 && (attempt === 0 || firstServed !== lastArrived); attempt++) {
      admit = admitWith({ mostWaiting: 200 });
      admitted.clear();
      await fill();
      arrived.clear();
      const sent = crowd.map((path) => send(path));
      await until(() => arrived.size === crowd.length);
      lastArrived = [...arrived].at(-1);
      const answers = await answered(sent);
      firstServed = [...admitted.keys()][32];

      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    }

    expect(firstServed).toBe(lastArrived);
    expect(overloads).toEqual([]);
  });

  it('keeps only the newest in an overload while the thread never rests', async () => {
    await overwhelm();
    let refusedAtOnce: boolean[] = [];
    let isTogether = false;
    whenArrived = (response) => {
      process.nextTick(() =>
        setImmediate(() => {
          if (refusedAtOnce.length === 0) isTogether = arrived.size === 2;
          refusedAtOnce.push(response.writableEnded);
        }),
      );
    };
    const comeTogether = async () => {
      arrived.clear();
      refusedAtOnce = [];
      const answers = await Promise.all([send('/a'), send('/b')]);
      expect(answers.map(({ status }) => status)).toEqual([503, 503]);
      return isTogether;
    };

    // Until it has been busy for a while, and two have come in one turn of the event loop.
    const computing = setInterval(() => compute(10), 1);
    const isRefused = async () => (await comeTogether()) && refusedAtOnce[0] === true;
    await until(isRefused).finally(() => clearInterval(computing));
    expect(refusedAtOnce).toEqual([true, false]);

    // Until it has rested for a while, but not until it is tried whether the overload can end.
    for (let attempt = 0; attempt < 30; attempt++) {
      await delay(20);
      if ((await comeTogether()) && refusedAtOnce[0] === false) break;
    }
    expect(refusedAtOnce).toEqual([false, false]);
  });

  it('lets nobody in during an overload while the database has no connection left', async () => {
    const sent = await fill();
    const waiting = ['/first', '/second', '/third'].map((path) => send(path));
    await until(() => overloads.length === 1);
    isDatabaseBusy = true;

    for (const response of admitted.values()) response.end();
    await Promise.all(sent);

    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([503, 503, 503]);
  });

  it('lets others in for whoever waits for another thread', async () => {
    await fill();
    const elsewhere = Promise.withResolvers<void>();
    const aside = stepAside(() => elsewhere.promise);

    const late = send('/late');
    await until(() => admitted.has('/late'));

    admitted.get('/late')?.end();
    elsewhere.resolve();
    await aside;
    expect((await late).status).toBe(200);
  });

  it('forgets those that have left', async () => {
    await fill();
    const gone = request({ port: server.port, path: '/gone' }).on('error', () => undefined);
    gone.end();
    const late = send('/late');
    await until(() => arrived.has('/gone') && arrived.has('/late'));
    gone.destroy();
    await until(() => closed.has('/gone'));

    admitted.get('/1')?.end();
    await until(() => admitted.has('/late'));
    admitted.get('/late')?.end();

    expect((await late).status).toBe(200);
    expect(admitted.has('/gone')).toBe(false);
  });

  it('does not read on when the body of a refused request is large', async () => {
    await fill();
    const small = { 'Content-Length': '2' };
    const large = { 'Content-Length': '1000000' };

    const refused = await Promise.all([send('/graphql', large, 'x'), send('/graphql', small, '{}'), send('/c')]);

    expect(refused.map(({ headers }) => headers.connection)).toEqual(['close', 'keep-alive', 'keep-alive']);
  });

  function admitWith({ mostWaiting }: { mostWaiting: number }) {
    // An overload may last longer than its test.
    const heard = overloads;
    return createAdmission({
      mostAtOnce: 32,
      mostWaiting,
      waitMs: 1000,
      isDatabaseBusy: () => isDatabaseBusy,
      onOverload: ({ refused }) => heard.push(refused),
    });
  }

  /** As many as are let in at once. */
  async function fill(): Promise<Promise<Received>[]> {
    const sent = Array.from({ length: 32 }, (_, index) => send(`/${index}`));
    await until(() => admitted.size === 32);
    return sent;
  }

  /** As many, and then more than may wait. */
  async function overwhelm(): Promise<Promise<Received>[]> {
    const sent = await fill();
    await Promise.all(['/first', '/second', '/third'].map((path) => send(path)));
    return sent;
  }

  /** What was sent, where whoever is let in is answered at once. */
  function answered(sent: Promise<Received>[]): Promise<Received[]> {
    const answering = setInterval(() => {
      for (const response of admitted.values()) response.end();
    }, 1);
    return Promise.all(sent).finally(() => clearInterval(answering));
  }

  function send(path: string, headers: Record<string, string> = {}, body?: string): Promise<Received> {
    const answer = sendOnce(path, headers, body);
    underWay.push(answer);
    return answer;
  }

  async function sendOnce(path: string, headers: Record<string, string>, body?: string): Promise<Received> {
    const since = performance.now();
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
      tookMs: performance.now() - since,
    };
  }
});

type Received = { status: number; headers: IncomingMessage['headers']; body: string; tookMs: number };

/** Holds for some turns of the event loop, in which what was sent has arrived. */
async function stays(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 20; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    expect(condition()).toBe(true);
  }
}
