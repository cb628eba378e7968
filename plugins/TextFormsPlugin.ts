import { type PgCodec, TYPES } from 'postgraphile/@dataplan/pg';
import { type SQL, sql } from 'postgraphile/pg-sql2';
import { isExactNumber } from './isExactNumber.ts';

/**
 * Lossless text forms: writes values as PostgreSQL does where PostGraphile's own form loses them.
 * `infinity` of dates and times would be null, also where null may not be, and `char(3)` has spaces behind it in one statement and none in
 * another, so that a row would have two ids. A number in JSON that a double cannot keep would be another number in the answer.
 */
export const TextFormsPlugin: GraphileConfig.Plugin = {
  name: 'TextFormsPlugin',

  gather: {
    hooks: {
      pgCodecs_PgCodec(_info, { pgCodec }) {
        const cast = casts.get(pgCodec as PgCodec);
        // The type is the library's own object, by which it knows it.
        if (cast) pgCodec.castFromPg = cast;
        if (pgCodec.arrayOfCodec === TYPES.jsonb) pgCodec.toPg = quotedJson;
        if (pgCodec === TYPES.json || pgCodec === TYPES.jsonb) pgCodec.fromPg = exactJson as typeof pgCodec.fromPg;
      },
    },
  },
};

/** An array of JSON as text: a string of JSON escapes quotes and backslashes, as an array does. */
const quotedJson = (items: readonly unknown[]) =>
  `{${items.map((item) => (item == null ? 'NULL' : JSON.stringify(JSON.stringify(item)))).join()}}`;

/** JSON whose numbers are written again as they were read (ECMAScript 2026, `JSON.rawJSON`). */
function exactJson(text: string): unknown {
  if (!mayBeInexact.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) => {
    const source = typeof value === 'number' ? context?.source : undefined;
    return source === undefined || isExactNumber(source) ? value : rawJson(source);
  });
}

/** A number of 16 characters, or with an exponent; others are kept. It may be part of a string. */
const mayBeInexact = /\d(?:[\d.]{15}|[eE])/;

const { rawJSON: rawJson } = JSON as typeof JSON & { rawJSON(text: string): unknown };

const orAsText = (cast: ((fragment: SQL, notNull?: boolean) => SQL) | undefined) => (fragment: SQL) =>
  sql`coalesce(${cast?.(fragment) ?? sql.null}, (${fragment})::text)`;

const casts: ReadonlyMap<PgCodec, (fragment: SQL) => SQL> = new Map<PgCodec, (fragment: SQL) => SQL>([
  [TYPES.date, orAsText(TYPES.date.castFromPg)],
  [TYPES.timestamp, orAsText(TYPES.timestamp.castFromPg)],
  [TYPES.timestamptz, orAsText(TYPES.timestamptz.castFromPg)],
  [TYPES.bpchar, (fragment) => sql`(${fragment})::text`],
]);
