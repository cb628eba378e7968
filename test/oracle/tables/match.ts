import { anyBoolean, anyCursor } from './answer.ts';

/** Where an answer differs from what is expected, or null. */
export function differenceOf(expected: unknown, got: unknown, path = ''): string | null {
  if (expected === anyCursor) return typeof got === 'string' && got !== '' ? null : told(path, 'a cursor', got);
  if (expected === anyBoolean) return typeof got === 'boolean' ? null : told(path, 'true or false', got);
  if (Array.isArray(expected)) {
    if (!Array.isArray(got) || got.length !== expected.length) return told(path, expected, got);
    return firstOf(expected.map((item, index) => differenceOf(item, got[index], `${path}[${index}]`)));
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof got !== 'object' || got === null || Array.isArray(got)) return told(path, expected, got);
    const [wanted, found] = [expected as Record<string, unknown>, got as Record<string, unknown>];
    const names = new Set([...Object.keys(wanted), ...Object.keys(found)]);
    return firstOf([...names].map((name) => differenceOf(wanted[name], found[name], `${path}.${name}`)));
  }
  return Object.is(expected, got) || (expected === 0 && got === 0) ? null : told(path, expected, got);
}

const firstOf = (differences: readonly (string | null)[]) =>
  differences.find((difference) => difference !== null) ?? null;

const told = (path: string, expected: unknown, got: unknown) =>
  `at ${path || 'the top'}\nexpected: ${show(expected)}\ngot:      ${show(got)}`;

const show = (value: unknown) =>
  (JSON.stringify(value, (_, item) => (typeof item === 'symbol' ? item.description : item)) ?? 'nothing').slice(0, 600);
