// Load shedding: admission while more requests come than can be served.
import { createTestAdmission, type TestAdmission, ticks, until } from './createTestAdmission.ts';

describe('admission', () => {
  let admission: TestAdmission;

  beforeEach(async () => {
    admission = await createTestAdmission();
  });

  afterEach(() => admission.stop());

  it('sheds load soon when too many wait, and reports the overload once', async () => {
    const { clock, fill, overloads, passUntilAnswered, sendTogether } = admission;
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
    const { admitted, clock, overloads, overwhelm, send } = admission;
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
    const { admitWith, answerWith, clock, fill, overloads, passTick, passUntilAnswered, send } = admission;
    // 8 are let in at once, and 5 in an overload: of 10 clients there are always some too many.
    admitWith({ connections: 5, maxWaiting: 5 });
    answerWith((response) => clock.setTimeout(() => response.end(), 50));
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
    const { admitted, answerAll, arrived, arrivedWhenAdmitted, overwhelm, sendTogether, underWay } = admission;
    await overwhelm();
    answerAll();
    await Promise.all(underWay);
    for (const all of [admitted, arrived]) all.clear();
    arrivedWhenAdmitted.length = 0;

    await Promise.all(await sendTogether(['/a', '/b']));

    expect(arrivedWhenAdmitted[0]).toBe(2);
    expect([...admitted.keys()][0]).toBe([...arrived.keys()][1]);
  });

  it('admits no request at the end of a long event-loop tick, in an overload', async () => {
    const { admitted, answerAll, clock, overwhelm, passUntilAnswered, sendTogether, underWay } = admission;
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

  it('keeps only the newest in an overload while the thread never rests', async () => {
    const { arrived, clock, overwhelm, passUntilAnswered, sendTogether } = admission;
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
});
