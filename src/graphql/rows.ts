import { limitExceeded } from './limits.ts';

/** Counts rows as they come, and throws when there are more; takes back those that it is told a negative number of. */
export function createRowCounter(most: number) {
  let rows = 0;
  return (more: number) => {
    rows += more;
    if (more > 0 && rows > most) throw limitExceeded('rows', most);
  };
}

/** Whether an answer, in JSON, has more rows, which are the objects in the lists of its data. */
export function hasMoreRows(answer: string, most: number): boolean {
  if (answer.length < most * '{"a":1},'.length) return false;
  return looksLikeMoreRows(answer, most) && rowsOf(JSON.parse(answer).data) > most;
}

/** Counts what may be the beginning of a row, in a text of a value and among the errors too. */
function looksLikeMoreRows(answer: string, most: number): boolean {
  let rows = 0;
  for (let at = answer.indexOf('{', 1); at !== -1 && rows <= most; at = answer.indexOf('{', at + 1)) {
    const before = answer[at - 1];
    if (before === '[' || before === ',') rows++;
  }
  return rows > most;
}

function rowsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value).reduce<number>((rows, item) => rows + rowsOf(item), 0);
  return inner + (Array.isArray(value) ? value.length : 0);
}
