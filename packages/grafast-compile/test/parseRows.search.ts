import fc from 'fast-check';
import { types } from 'pg';
import { type Cell, parseRows, type Row, type Shape } from '../src/parseRows.ts';
import { texts, writeRows } from './writeRows.ts';

// Drawn anew with TEST_SEARCHES=whole, and as before with SEED=….
const isWhole = process.env.TEST_SEARCHES === 'whole';
const seed = Number(process.env.SEED || (isWhole ? Math.floor(Math.random() * 2 ** 31) : 1));
const numRuns = isWhole ? 5000 : 200;

/** The driver's own parser of `text[]`. */
const parseArray = types.getTypeParser(1009 as never) as (text: string) => (string | null)[][];

test('rows, and rows in their cells, are what the driver finds level by level', () => {
  fc.assert(
    fc.property(tables, ({ rows, shape }) => {
      const text = writeRows(rows);

      const parsed = parseRows(text, shape);

      expect(parsed).toEqual(rows);
      expect(parsed).toEqual(parseByLevel(text, shape));
    }),
    { numRuns, seed },
  );
});

test('a cell of rows that is not asked for stays a text', () => {
  fc.assert(
    fc.property(tables, ({ rows }) => {
      const text = writeRows(rows);

      expect(parseRows(text, new Map())).toEqual(parseArray(text));
    }),
  );
});

test('a text that is cut off is refused', () => {
  fc.assert(
    fc.property(tables, fc.nat(), ({ rows, shape }, at) => {
      const text = writeRows(rows);

      expect(() => parseRows(text.slice(0, at % text.length), shape)).toThrow(SyntaxError);
    }),
    { numRuns, seed },
  );
});

/** The contents of each column: texts, or rows. */
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
