import fc from 'fast-check';
import { types } from 'pg';
import { type Cell, parseRows, type Row, type Shape } from '../../plugins/compilation/parseRows.ts';
import { createTestDatabase } from '../support/database.ts';
import { seed, sizeOf } from '../support/search.ts';

/** The driver's own parser of `text[]`. */
const parseArray = types.getTypeParser(1009 as never) as (text: string) => (string | null)[][];

test('rows, and rows in their cells, are what the driver finds level by level', () => {
  fc.assert(
    fc.property(tables, ({ rows, shape }) => {
      const text = write(rows);

      const parsed = parseRows(text, shape);

      expect(parsed).toEqual(rows);
      expect(parsed).toEqual(parseByLevel(text, shape));
    }),
    { numRuns: sizeOf({ small: 200, whole: 5000 }), seed },
  );
});

test('a cell of rows that is not asked for stays a text', () => {
  fc.assert(
    fc.property(tables, ({ rows }) => {
      const text = write(rows);

      expect(parseRows(text, new Map())).toEqual(parseArray(text));
    }),
  );
});

test('a text that is cut off is refused', () => {
  fc.assert(
    fc.property(tables, fc.nat(), ({ rows, shape }, at) => {
      const text = write(rows);

      expect(() => parseRows(text.slice(0, at % text.length), shape)).toThrow(SyntaxError);
    }),
    { numRuns: sizeOf({ small: 200, whole: 5000 }), seed },
  );
});

test('PostgreSQL writes rows as it is taken for granted here', async () => {
  const database = await createTestDatabase();
  const values = fc.sample(texts, 500);

  const { rows } = await database.owner.query<{ text: string }>(
    'select array(select array[value, value]::text[] from unnest($1::text[]) with ordinality as t (value, nth) order by nth)::text as text',
    [values],
  );

  expect(rows[0]?.text).toBe(write(values.map((value) => [value, value])));
  await database.drop();
});

const texts: fc.Arbitrary<string | null> = fc.oneof(
  fc.constantFrom(null, '', 'NULL', 'null', '{}', '{{a}}', '\t', '\u000b', '\u00a0', '😀', '\\\\\\"'),
  fc.string({ unit: fc.constantFrom('"', '\\', ',', '{', '}', ' ', 'a', '\n'), maxLength: 8 }),
  fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => text.isWellFormed() && !text.includes('\0')),
  fc.uuid(),
);

/** What is in each column: texts, or rows. */
type Columns = readonly (Columns | null)[];

const columns = (depth: number): fc.Arbitrary<Columns> =>
  fc.array(depth === 0 ? fc.constant(null) : fc.option(columns(depth - 1), { freq: 1 }), {
    minLength: 1,
    maxLength: 4,
  });

const rowsOf = (drawn: Columns): fc.Arbitrary<Row[]> =>
  fc.array(fc.tuple(...drawn.map((column): fc.Arbitrary<Cell> => (column ? rowsOf(column) : texts))), { maxLength: 3 });

const shapeOf = (drawn: Columns): Shape =>
  new Map(drawn.flatMap((column, index) => (column ? [[index, shapeOf(column)] as const] : [])));

const tables = columns(4).chain((drawn) => rowsOf(drawn).map((rows) => ({ rows, shape: shapeOf(drawn) })));

function parseByLevel(text: string, shape: Shape): Row[] {
  return parseArray(text).map((row) =>
    row.map((cell, index) => {
      const inner = shape.get(index);
      return inner && cell !== null ? parseByLevel(cell, inner) : cell;
    }),
  );
}

/** As PostgreSQL's `array_out` does it. */
function write(rows: readonly Row[]): string {
  return `{${rows.map((row) => `{${row.map(writeCell).join(',')}}`).join(',')}}`;
}

function writeCell(cell: Cell): string {
  if (cell === null) return 'NULL';
  const text = typeof cell === 'string' ? cell : write(cell);
  const isPlain = text !== '' && !/^null$/i.test(text) && !/["\\{},\t-\r ]/.test(text);
  return isPlain ? text : `"${text.replace(/["\\]/g, '\\$&')}"`;
}
