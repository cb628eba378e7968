import fc from 'fast-check';
import type { Cell, Row } from '../src/parseRows.ts';

/** Texts in cells: those that are written with marks, without, and null. */
export const texts: fc.Arbitrary<string | null> = fc.oneof(
  fc.constantFrom(null, '', 'NULL', 'null', '{}', '{{a}}', '\t', '\u000b', '\u00a0', '😀', '\\\\\\"'),
  fc.string({ unit: fc.constantFrom('"', '\\', ',', '{', '}', ' ', 'a', '\n'), maxLength: 8 }),
  fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => text.isWellFormed() && !text.includes('\0')),
  fc.uuid(),
);

/** Rows as PostgreSQL's `array_out` writes them. */
export function writeRows(rows: readonly Row[]): string {
  return `{${rows.map((row) => `{${row.map(writeCell).join(',')}}`).join(',')}}`;
}

function writeCell(cell: Cell): string {
  if (cell === null) return 'NULL';
  const text = typeof cell === 'string' ? cell : writeRows(cell);
  const isPlain = text !== '' && !/^null$/i.test(text) && !/["\\{},\t-\r ]/.test(text);
  return isPlain ? text : `"${text.replace(/["\\]/g, '\\$&')}"`;
}
