// Fair queueing: each tenant is served however much another one sends.
import { createTestAdmission, stays, type TestAdmission, until } from './createTestAdmission.ts';

describe('admission', () => {
  let admission: TestAdmission;

  beforeEach(async () => {
    admission = await createTestAdmission();
  });

  afterEach(() => admission.stop());

  it("serves another tenant during a tenant's overload, first and without refusing it", async () => {
    const { admitWith, admitted, answerAll, clock, fill, overloads, passUntilAnswered, sendTogether } = admission;
    admitWith({ maxWaiting: 4 });
    await fill();
    const neighbours = ['/neighbour-1', '/neighbour-2'];

    const sent = await sendTogether(['/a', '/b', '/c', ...neighbours, '/d']);
    await until(() => admitted.size === 33);
    expect([...admitted.keys()].at(-1)).toMatch('/neighbour');
    await clock.advance(10);
    answerAll();
    const answers = await passUntilAnswered(sent);

    expect(answers.slice(3, 5).map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[0]?.status).toBe(503);
    expect(overloads).toEqual([null]);
  });

  it('admits as few of an overloaded tenant as leave the thread idle moments, and of others as before', async () => {
    const { admitted, answerAll, arrived, clock, overwhelm, passTick, sendTogether } = admission;
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
    const { admitWith, admitted, answerAll, arrived, fill, overloads, passTick, passUntilAnswered, sendTogether } =
      admission;
    admitWith({ maxWaiting: 4 });
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
    const { admitWith, answerAll, arrived, fill, passTick, passUntilAnswered, sendTogether } = admission;
    admitWith({ maxWaiting: 4 });
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
    const { admitted, answerAll, clock, fill, sendTogether } = admission;
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

  it('charges a request to a tenant that is known later', async () => {
    const { admitted, answerAll, clock, fill, permits, sendTogether } = admission;
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
});
