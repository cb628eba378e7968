import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { createCompressor } from '../../src/http/compression.ts';

test('compresses what fits into its memory, and leaves the rest as it is', async () => {
  const compress = createCompressor(3_000_000);
  const content = randomBytes(1_000_000);

  const [first, second, third] = await Promise.all([1, 2, 3].map(() => compress('gzip', content)));

  expect([first, second].map((compressed) => gunzipSync(compressed ?? '').equals(content))).toEqual([true, true]);
  expect(third).toBeNull();
  expect(gunzipSync((await compress('gzip', 'ü'.repeat(1000))) ?? '').toString()).toBe('ü'.repeat(1000));
});
