import { retryDelayMs } from '../../src/webhooks/startWebhooks.ts';

test('retries come after 5 s, 5 min, 30 min, 2 h, 5 h and then every 10 h, with at most a fifth more', () => {
  const minutes = (random: number) =>
    [1, 2, 3, 4, 5, 6, 7, 12].map((attempts) => retryDelayMs(attempts, () => random) / 60_000);

  const least = [1 / 12, 5, 30, 120, 300, 600, 600, 600];
  expect(minutes(0)).toEqual(least);
  expect(minutes(1)).toEqual(least.map((delay) => expect.closeTo(delay * 1.2)));
});
