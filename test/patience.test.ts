import { OutOfPatience, spendPatience, withPatience } from '../src/patience.ts';
import { createTestClock, type TestClock } from './support/clock.ts';

let clock: TestClock;
beforeEach(() => {
  clock = createTestClock();
});

const wait = (ms: number) =>
  spendPatience(new Promise<string>((resolve) => clock.setTimeout(() => resolve('had'), ms)));
const never = new Promise<never>(() => undefined);

test('all waits of a request together may be so long, and those at the same time count once', () =>
  withPatience(
    2000,
    async () => {
      const both = Promise.all([wait(1200), wait(1200)]);
      await clock.advance(1200);
      expect(await both).toEqual(['had', 'had']);
      // No wait.
      await clock.advance(900);
      const third = wait(100);
      await clock.advance(100);
      expect(await third).toBe('had');

      const since = clock.now();
      const refusedAfterMs = expect(spendPatience(never))
        .rejects.toThrow(OutOfPatience)
        .then(() => clock.now() - since);
      await clock.advance(1000);
      expect(await refusedAfterMs).toBe(700);
    },
    clock,
  ));

test('waits that overlap count from the beginning of the first', () =>
  withPatience(
    1200,
    async () => {
      const since = clock.now();
      const first = wait(1000);
      await clock.advance(500);
      const refusedAfterMs = expect(spendPatience(never))
        .rejects.toThrow(OutOfPatience)
        .then(() => clock.now() - since);

      await clock.advance(1500);

      expect(await first).toBe('had');
      expect(await refusedAfterMs).toBe(1200);
    },
    clock,
  ));

test('who has none left gets what is there', () =>
  withPatience(
    -1,
    async () => {
      expect(await spendPatience(Promise.resolve('had'))).toBe('had');
      const refused = expect(wait(500)).rejects.toThrow(OutOfPatience);
      await clock.advance(1);
      await refused;
    },
    clock,
  ));

test('another request has its own, and what is done for none waits', async () => {
  const impatient = withPatience(50, () => wait(500), clock);
  const patient = withPatience(2000, () => wait(500), clock);
  const settled = Promise.allSettled([impatient, patient, wait(500)]);

  await clock.advance(500);

  expect(await settled).toEqual([
    { status: 'rejected', reason: expect.any(OutOfPatience) },
    { status: 'fulfilled', value: 'had' },
    { status: 'fulfilled', value: 'had' },
  ]);
});
