import { createLog } from '../../src/log.ts';
import { isDue } from '../../src/observability/requestFields.ts';

test('a kind of line is due once in the log of a service, and once in that of another', () => {
  const [one, other] = [createLog('silent'), createLog('silent')];

  expect(isDue(one, '53100')).toBe(true);
  expect(isDue(one, '53100')).toBe(false);
  expect(isDue(one, '42501')).toBe(true);
  expect(isDue(other, '53100')).toBe(true);
});
