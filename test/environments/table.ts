import { type Column, columns } from './columns.ts';
import { type Cells, passed, type Row } from './matrix.ts';

export type Result = { readonly major: number; readonly row: Row; readonly cells: Cells };

/** The matrix for docs/platforms.md: for each way, where it was tried and what worked. */
export function tableOf(results: readonly Result[]): string {
  const names = Object.keys(columns) as Column[];
  const bySubject = Map.groupBy(
    results.flatMap((result) => result.row.ways.map((way) => ({ ...result, ...way }))),
    ({ subject }) => subject,
  );
  const lines = [...bySubject].flatMap(([subject, tried]) => [
    [`**${subject}**`, '', ...names.map(() => '')],
    ...[...Map.groupBy(tried, ({ name }) => name)].map(([name, found]) => [
      name,
      rangeOf(found.map(({ major }) => major)),
      ...names.map((column) => (found.every(({ cells }) => (cells[column] ?? passed) === passed) ? '✓' : '✗')),
    ]),
  ]);
  const head = ['', 'PostgreSQL', ...names];
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function rangeOf(majors: readonly number[]): string {
  const [first, last] = [Math.min(...majors), Math.max(...majors)];
  return first === last ? String(first) : `${first} to ${last}`;
}
