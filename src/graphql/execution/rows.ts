import { limitExceeded } from '../document/limitExceeded.ts';

/** Row counter with a limit: throws when the rows exceed it. */
export function createRowCounter(max: number) {
  let rows = 0;
  return (more: number) => {
    rows += more;
    if (rows > max) throw limitExceeded('rows', max);
  };
}

/** Whether an answer, in JSON, has more rows: the objects in the lists of its data. */
export function hasMoreRows(answer: string, max: number): boolean {
  if (answer.length < max * '{"a":1},'.length) return false;
  return looksLikeMoreRows(answer, max) && rowsOf(JSON.parse(answer).data) > max;
}

/** A fast upper bound: counts every possible beginning of a row, even inside texts and errors. */
function looksLikeMoreRows(answer: string, max: number): boolean {
  let rows = 0;
  for (let at = answer.indexOf('{', 1); at !== -1 && rows <= max; at = answer.indexOf('{', at + 1)) {
    const before = answer[at - 1];
    if (before === '[' || before === ',') rows++;
  }
  return rows > max;
}

function rowsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value).reduce<number>((rows, item) => rows + rowsOf(item), 0);
  return inner + (Array.isArray(value) ? value.length : 0);
}
