import { once } from 'node:events';
import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createRefusal } from '../../src/http/admission.ts';
import { listen } from '../../src/http/server.ts';
import { createLog } from '../../src/log.ts';
import { createAdmission, type Permit } from '../../src/scheduling/admission.ts';
import { createTestClock } from '../support/clock.ts';

export type TestAdmission = Awaited<ReturnType<typeof createTestAdmission>>;

/** Admission before a real HTTP server, on a fake clock; the test answers the requests that it admits. */
export async function createTestAdmission() {
  const clock = createTestClock();
  const overloads: (number | null)[] = [];
  let admit = createAdmissionOf({ maxWaiting: 2 });
  const agent = new Agent({ keepAlive: true });
  const permits = new Map<string, Permit>();
  /** Those that were let in and have no answer yet, by their paths. */
  const admitted = new Map<string, ServerResponse>();
  /** The responses to all requests that have come, by their paths in the order in which they came. */
  const arrived = new Map<string, ServerResponse>();
  /** How many had arrived when each was let in. */
  const arrivedWhenAdmitted: number[] = [];
  /** How long each had waited when it was let in. */
  const waitedMs = new Map<string, number>();
  /** Keeps requests until all of them are there, so that they come in one event-loop tick. */
  let hold: ((path: string, arrive: () => void) => void) | null = null;
  const closed = new Set<string>();
  let whenAdmitted: (response: ServerResponse) => void = () => undefined;
  const underWay: Promise<unknown>[] = [];
  /** How many requests were sent whose answers the client does not have. */
  let unanswered = 0;
  /** The responses that the server has not closed. */
  const open = new Set<ServerResponse>();
  const server = await listen('127.0.0.1', 0, (request, response) => {
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

  /** With so many connections 32 are let in at once, unless said. */
  function createAdmissionOf({ connections = 21, maxWaiting }: { connections?: number; maxWaiting: number }) {
    const onOverload = ({ refused = null }: { refused?: number | null }) => overloads.push(refused);
    return createAdmission({ connections, maxWaiting, waitMs: 1000, onOverload }, clock);
  }

  /** Admits what comes from now on by other limits. */
  function admitWith(limits: { connections?: number; maxWaiting: number }): void {
    admit = createAdmissionOf(limits);
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

  /** Sets what happens from now on to a request that is let in. */
  function answerWith(answer: (response: ServerResponse) => void): void {
    whenAdmitted = answer;
  }

  /** Answers all that were let in, and from now on at once. */
  function answerAll(): void {
    answerWith((response) => response.end());
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

  function send(path: string): Promise<Received> {
    unanswered++;
    const answer = sendOnce(path).finally(() => unanswered--);
    underWay.push(answer);
    return answer;
  }

  async function sendOnce(path: string): Promise<Received> {
    const since = clock.now();
    const sent = request({ port: server.port, agent, path });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const chunks = await response.toArray();
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: chunks.join(''),
      tookMs: clock.now() - since,
    };
  }

  async function stop(): Promise<void> {
    answerAll();
    await passUntilAnswered(underWay);
    agent.destroy();
    await server.stop(0);
  }

  return {
    ...{
      clock,
      port: server.port,
      overloads,
      permits,
      admitted,
      arrived,
      arrivedWhenAdmitted,
      waitedMs,
      closed,
      underWay,
    },
    ...{ admitWith, answerWith, answerAll, fill, overwhelm, send, sendTogether, passTick, passUntilAnswered, stop },
  };
}

/** `/of/strangers/1.2.3.4/1` is of such an address; what names none is the tenant's. */
function flowOf(path: string): string[] {
  if (path.startsWith('/neighbour')) return ['neighbour'];
  return path.startsWith('/of/') ? path.split('/').slice(2, -1) : ['tenant'];
}

const refuse = createRefusal({ log: createLog('silent'), isHttps: false, corsOrigins: [] });

type Received = { status: number; headers: IncomingMessage['headers']; body: string; tookMs: number };

const tick = () => new Promise((resolve) => setImmediate(resolve));

/** More event-loop ticks than a request that can be let in, or that is to be refused, has to wait for. */
export async function ticks(): Promise<void> {
  for (let count = 0; count < 5; count++) await tick();
}

/** Resolves in the event-loop tick in which the condition holds. Fails after 20 s. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`This did not come true: ${condition}`);
    await tick();
  }
}

/** Holds for some event-loop ticks. */
export async function stays(condition: () => boolean): Promise<void> {
  for (let count = 0; count < 20; count++) {
    await tick();
    expect(condition()).toBe(true);
  }
}
