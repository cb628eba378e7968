/** @typedef {string | number} Step a key of an object, or an index of a list */

/**
 * The path to the value at an offset in a JSON text: the innermost value that begins on the offset's line or around it.
 * A cursor on a key stands for the key's value.
 *
 * @param {string} text as `JSON.stringify` writes it with two spaces, one value or key a line
 * @param {number} offset
 * @returns {Step[]}
 */
export function pathAt(text, offset) {
  const lines = text.slice(0, offset).split('\n');
  const rest = text.slice(offset).split('\n')[0] ?? '';
  lines.push((lines.pop() ?? '') + rest);
  /** @type {{ indent: number, step: Step | null, count: number }[]} */
  const open = [];
  for (const line of lines) {
    const [, spaces = '', key, start = ''] = /^( *)(?:("(?:[^"\\]|\\.)*"): )?(.?)/.exec(line) ?? [];
    while (open.length > 0 && (open.at(-1)?.indent ?? 0) > spaces.length) open.pop();
    if (start === '}' || start === ']') continue;
    const last = open.at(-1)?.indent === spaces.length ? open.pop() : undefined;
    const count = (last?.count ?? -1) + 1;
    open.push({ indent: spaces.length, step: spaces === '' ? null : key ? JSON.parse(key) : count, count });
  }
  return open.flatMap(({ step }) => step ?? []);
}

/**
 * The value at a path; undefined where the text has none.
 *
 * @param {unknown} value
 * @param {Step[]} path
 */
export const valueAt = (value, path) =>
  path.reduce(
    (inner, step) => (inner === null || inner === undefined ? undefined : Reflect.get(Object(inner), step)),
    value,
  );
