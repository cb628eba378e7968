/** How many levels of lists and objects a JSON value may have: PostgreSQL parses it recursively. */
const maxDepth = 500;

/** Known to be usable, since one value of a variable may stand in many places. */
const usable = new WeakSet<object>();

/** The reason why PostgreSQL cannot store a value, such as NUL or half a surrogate pair; else null. */
export function unusableIn(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return problemOf(value, maxDepth);
  if (usable.has(value)) return null;
  const problem = problemOf(value, maxDepth);
  if (problem === null) usable.add(value);
  return problem;
}

export const isText = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

const notText = 'contains a character that is not Unicode text';

function problemOf(value: unknown, depth: number): string | null {
  if (typeof value === 'string') return isText(value) ? null : notText;
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return null;
  if (depth === 0) return 'is nested too deep';
  const isList = Array.isArray(value);
  if (!isList && !Object.keys(value).every(isText)) return notText;
  for (const item of isList ? value : Object.values(value)) {
    const problem = problemOf(item, depth - 1);
    if (problem) return problem;
  }
  return null;
}
