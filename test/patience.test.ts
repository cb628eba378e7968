import { setTimeout as delay } from 'node:timers/promises';
import { OutOfPatience, spendPatience, withPatience } from '../src/patience.ts';

const wait = (ms: number) => spendPatience(delay(ms, 'had'));
const never = new Promise<never>(() => undefined);

test('all waits of a request together may be so long, and those at the same time count once', () =>
  withPatience(2000, async () => {
    const since = performance.now();
    expect(await Promise.all([wait(1200), wait(1200)])).toEqual(['had', 'had']);
    // No wait.
    await delay(900);
    expect(await wait(100)).toBe('had');

    await expect(spendPatience(never)).rejects.toThrow(OutOfPatience);
    const waitedMs = performance.now() - since - 900;
    expect(waitedMs).toBeGreaterThan(1950);
    expect(waitedMs).toBeLessThan(2700);
  }));

test('who has none left gets what is there', () =>
  withPatience(-1, async () => {
    expect(await spendPatience(Promise.resolve('had'))).toBe('had');
    await expect(wait(500)).rejects.toThrow(OutOfPatience);
  }));

test('another request has its own, and what is done for none waits', async () => {
  const impatient = withPatience(50, () => wait(500));
  const patient = withPatience(2000, () => wait(500));

  expect(await Promise.allSettled([impatient, patient, wait(500)])).toEqual([
    { status: 'rejected', reason: expect.any(OutOfPatience) },
    { status: 'fulfilled', value: 'had' },
    { status: 'fulfilled', value: 'had' },
  ]);
});
