// Load shedding: admission while more requests come than may wait.
import { createTestAdmission, type TestAdmission, until } from './createTestAdmission.ts';

let admission: TestAdmission;
beforeEach(async () => {
  admission = await createTestAdmission();
});
afterEach(() => admission.stop());

test('what is one too many is refused at once, and the overload is reported once', async () => {
  const { answerAll, clock, fill, overloads, passUntilAnswered, sendTogether } = admission;
  await fill();

  const sent = await sendTogether(['/oauth/token', '/oauth/a', '/oauth/b', '/oauth/c']);
  const refused = await passUntilAnswered(sent.slice(2));

  for (const { status, headers, body, tookMs } of refused) {
    expect(status).toBe(503);
    expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(headers['cache-control']).toBe('no-store');
    expect(JSON.parse(body)).toEqual({ error: 'temporarily_unavailable', error_description: expect.any(String) });
    expect(tookMs).toBe(0);
  }
  expect(overloads).toEqual([null]);
  answerAll();
  expect((await Promise.all(sent.slice(0, 2))).map(({ status }) => status)).toEqual([200, 200]);
  await clock.advance(1000);
  expect(overloads).toEqual([null]);
  await clock.advance(100);
  expect(overloads).toEqual([null, 2]);
});

test('an overload lasts until no request was refused for a second', async () => {
  const { clock, fill, overloads, passUntilAnswered, sendTogether } = admission;
  await fill();
  const [, , ...refused] = await sendTogether(['/a', '/b', '/c']);
  await passUntilAnswered(refused);
  await clock.advance(900);
  const [again] = await sendTogether(['/d']);
  expect((await again)?.status).toBe(503);

  await clock.advance(1000);
  expect(overloads).toEqual([null]);
  await clock.advance(100);
  expect(overloads).toEqual([null, 2]);
});

test('a request that is answered makes room for the next one', async () => {
  const { admitted, answerAll, arrived, fill, sendTogether } = admission;
  const before = await fill();
  const waiting = await sendTogether(['/a', '/b']);

  admitted.get('/1')?.end();
  await until(() => admitted.has('/a'));
  const next = await sendTogether(['/c']);
  await until(() => arrived.has('/c'));
  answerAll();

  const answers = await Promise.all([...before, ...waiting, ...next]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
});
