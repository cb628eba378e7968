import fc from 'fast-check';
import { weighJson } from '../../src/http/requestBody.ts';

/** Counts what `JSON.parse` has read. */
function count(value: unknown): { structures: number; members: number; commas: number } {
  if (typeof value !== 'object' || value === null) return { structures: 0, members: 0, commas: 0 };
  const inner = Object.values(value).map(count);
  const sum = (kind: 'structures' | 'members' | 'commas') => inner.reduce((total, one) => total + one[kind], 0);
  return {
    structures: sum('structures') + 1,
    members: sum('members') + (Array.isArray(value) ? 0 : inner.length),
    commas: sum('commas') + Math.max(0, inner.length - 1),
  };
}

test('JSON weighs as much as what is read of it, whatever stands in its strings', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), (text) => {
      const bytes = Buffer.from(text);
      const { structures, members, commas } = count(JSON.parse(text));

      const weight = weighJson(bytes);

      expect(weight.members).toBe(members);
      expect(weight.costMs).toBeCloseTo(
        2e-4 * structures + 1e-3 * members + 2e-4 * (commas + 1) + 4e-6 * bytes.length,
        9,
      );
    }),
  );
});

test.each(['"', '"\\', '{"a', ':::', ''])('%j is weighed, though it is no JSON', (text) => {
  expect(weighJson(Buffer.from(text)).excess).toBeNull();
});
