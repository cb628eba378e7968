type Step = string | number;
type Json = null | string | number | boolean | Json[] | { [key: string]: Json };
type JsonModule = {
  pathAt(text: string, offset: number): Step[];
  valueAt(value: Json, path: readonly Step[]): Json | undefined;
};

const file: string = '../../src/pages/browser/json.js';

describe('the path to the cursor in a result', () => {
  let pathAt: JsonModule['pathAt'];
  let valueAt: JsonModule['valueAt'];

  beforeAll(async () => {
    ({ pathAt, valueAt } = (await import(file)) as JsonModule);
  });

  const answer: Json = {
    data: {
      viewer: null,
      'a "quoted": key': { 'with {': '}', deep: [[1, [true, { x: [] }]], [], {}, 'a": {'] },
      units: { nodes: [{ name: 'A', parent: null }, { name: 'B\n{', parent: { name: '[' } }, null], totalCount: 2 },
    },
    errors: [{ message: 'none', path: ['data', 0] }],
  };

  it('leads to each value, wherever in its line the cursor is', () => {
    const paths = pathsOf(answer);

    expect(paths.length).toBeGreaterThan(30);
    for (const path of paths) {
      const text = JSON.stringify(marked(answer, path), null, 2);
      const at = text.indexOf('"MARK"');
      const startOfLine = text.lastIndexOf('\n', at) + 1;
      const endOfLine = text.indexOf('\n', at);
      for (const offset of [startOfLine, at, endOfLine === -1 ? text.length : endOfLine])
        expect([path, pathAt(text, offset)]).toEqual([path, path]);
      expect(valueAt(JSON.parse(text), path)).toBe('MARK');
    }
  });

  it('leads to an object from its last line, too', () => {
    const text = JSON.stringify(answer, null, 2);
    const path = pathAt(text, text.indexOf('}', text.indexOf('"parent": null')));

    expect(path).toEqual(['data', 'units', 'nodes', 0]);
  });

  it('finds nothing below a value that is not there', () => {
    expect(valueAt(answer, ['data', 'viewer', 'name'])).toBeUndefined();
    expect(valueAt(answer, ['data', 'units', 'nodes', 9])).toBeUndefined();
  });
});

function pathsOf(value: Json): Step[][] {
  if (value === null || typeof value !== 'object') return [[]];
  const entries: [Step, Json][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [[], ...entries.flatMap(([step, inner]) => pathsOf(inner).map((path) => [step, ...path]))];
}

/** A copy with a text in place of the value at the path. */
function marked(value: Json, [step, ...path]: readonly Step[]): Json {
  if (step === undefined) return 'MARK';
  const copy = structuredClone(value) as Record<Step, Json>;
  copy[step] = marked(copy[step] ?? null, path);
  return copy as Json;
}
