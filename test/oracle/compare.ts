import type { Answer } from './answer.ts';
import { type Cursors, cursorMark } from './cursors.ts';

export type Difference = { readonly where: string; readonly expected: unknown; readonly got: unknown };

/** The first difference between what must be answered and what was; cursors agree when they always stand for the same place. */
export function differenceOf(expected: Answer, got: Answer, cursors: Cursors): Difference | null {
  if (expected.status !== got.status) return { where: 'status', expected: outline(expected), got: outline(got) };
  // A refused document may name each argument that is wrong: how many it names is not compared.
  const errorsOf = ({ status, errors }: Answer) =>
    status === 200 ? errors : [...new Set(errors.map(({ code }) => code))].map((code) => ({ code, path: null }));
  if (JSON.stringify(errorsOf(expected)) !== JSON.stringify(errorsOf(got))) {
    return { where: 'errors', expected: expected.errors, got: got.errors };
  }
  return valueDifference(expected.data, got.data, 'data', cursors);
}

function valueDifference(expected: unknown, got: unknown, where: string, cursors: Cursors): Difference | null {
  if (typeof expected === 'string' && expected.startsWith(cursorMark)) {
    const isSame = typeof got === 'string' && cursors.learn(expected, got);
    return isSame ? null : { where, expected: expected.slice(1), got };
  }
  if (typeof expected !== 'object' || expected === null || typeof got !== 'object' || got === null) {
    return expected === got ? null : { where, expected, got };
  }
  if (Array.isArray(expected) !== Array.isArray(got)) return { where, expected, got };
  const names = Object.keys(expected);
  if (names.join('\n') !== Object.keys(got).join('\n')) {
    return Array.isArray(expected)
      ? { where, expected, got }
      : { where: `${where} (fields)`, expected: names, got: Object.keys(got) };
  }
  for (const name of names) {
    const inner = (value: object) => (value as Record<string, unknown>)[name];
    const difference = valueDifference(inner(expected), inner(got), `${where}.${name}`, cursors);
    if (difference) return difference;
  }
  return null;
}

const outline = ({ status, errors }: Answer) => ({ status, errors });
