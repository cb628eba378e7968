import { request } from 'node:http';
import { createTestAdmission, stays, type TestAdmission, until } from './createTestAdmission.ts';

describe('admission', () => {
  let admission: TestAdmission;

  beforeEach(async () => {
    admission = await createTestAdmission();
  });

  afterEach(() => admission.stop());

  it('admits 32 requests at once, and the next when one of them has its answer', async () => {
    const { admitted, arrived, clock, fill, overloads, send, waitedMs } = admission;
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
    const { arrivedWhenAdmitted, fill, overloads } = admission;
    await fill();

    expect(arrivedWhenAdmitted.slice(0, 2)).toEqual([1, 2]);
    expect(new Set(arrivedWhenAdmitted.slice(2))).toEqual(new Set([32]));
    expect(overloads).toEqual([]);
  });

  it('refuses a request that has waited too long, overloaded or not', async () => {
    const { arrived, clock, fill, overloads, send } = admission;
    await fill();
    const late = send('/late');
    await until(() => arrived.has('/late'));

    await clock.advance(1000);
    expect(arrived.get('/late')?.writableEnded).toBe(false);
    await clock.advance(5);
    expect((await late).status).toBe(503);
    expect(overloads).toEqual([]);
  });

  it('serves a burst in the order in which it came, and all of it', async () => {
    const { admitWith, admitted, answerAll, arrived, fill, overloads, sendTogether } = admission;
    const burst = Array.from({ length: 300 }, (_, index) => `/burst-${index}`);
    admitWith({ maxWaiting: 300 });
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

  it('admits others while a permit is paused, and counts it once when its client leaves meanwhile', async () => {
    const { admitted, answerAll, arrived, closed, fill, permits, send } = admission;
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

  it('keeps the queue when a request of its tenant resumes its permit', async () => {
    const { admitted, answerAll, arrived, fill, permits, send } = admission;
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
    const { admitted, answerAll, arrived, clock, fill, permits, send } = admission;
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

  it('forgets requests whose clients have left', async () => {
    const { admitted, arrived, closed, fill, port, send } = admission;
    await fill();
    const gone = request({ port, path: '/gone' }).on('error', () => undefined);
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
});
