import { type PgCodec, TYPES } from 'postgraphile/@dataplan/pg';
import { type SQL, sql } from 'postgraphile/pg-sql2';
import { exactJson } from './exactJson.ts';

/** How PostgreSQL writes values of a type as text, alone and in an array, and how that is read. */
export type TextForm = Partial<Pick<PgCodec, 'castFromPg' | 'listCastFromPg' | 'fromPg' | 'toPg'>>;

type Cast = (fragment: SQL) => SQL;

/** The text of an array's items, each by its own cast. */
export const castItems =
  (cast: Cast): Cast =>
  (array) => {
    const item = sql.identifier(Symbol('item'));
    return sql`(case when (${array}) is not null then array(select ${cast(item)} from unnest(${array}) ${item})::text end)`;
  };

/** By `to_char`, which writes a year before Christ like any other. An infinite date has no such form. */
const dated = (pattern: string): TextForm => {
  const form = sql.literal(`${pattern} BC`);
  const castFromPg: Cast = (fragment) =>
    sql`coalesce(replace(to_char(${fragment}, ${form}::text), ' AD', ''), (${fragment})::text)`;
  return { castFromPg, listCastFromPg: castItems(castFromPg) };
};

const castToText: Cast = (fragment) => sql`(${fragment})::text`;

/** As PostgreSQL writes it: `to_char` would make 00:00 of 24:00, and UTC of every zone. */
const timed: TextForm = { castFromPg: castToText, listCastFromPg: castToText, fromPg: paddedTime };

/** Writes six digits behind the second, and the minutes of a zone, as dates and times have them. */
function paddedTime(text: string): string {
  const [, time = text, digits = '', zone = ''] = /^(\d\d:\d\d:\d\d)(?:\.(\d+))?([+-].+)?$/.exec(text) ?? [];
  return `${time}.${digits.padEnd(6, '0')}${/^.\d\d$/.test(zone) ? `${zone}:00` : zone}`;
}

const castInterval: Cast = (fragment) =>
  sql`coalesce(to_char(${fragment}, 'YYYY_MM_DD_HH24_MI_SS_US'::text), (${fragment})::text)`;

/** The seconds and their fraction each have a sign. No part of an infinite interval is a number. */
function parseInterval(text: string): unknown {
  if (text.endsWith('infinity'))
    return { years: text, months: text, days: text, hours: text, minutes: text, seconds: text };
  const [years, months, days, hours, minutes, seconds, microseconds] = text.split('_').map(Number);
  return { years, months, days, hours, minutes, seconds: Number(seconds) + Number(microseconds) / 1_000_000 };
}

/** Two points of the line Ax + By + C = 0: where it crosses the axes, if it crosses them at two. */
function parseLine(text: string): unknown {
  const [a = 0, b = 0, c = 0] = text.slice(1, -1).split(',').map(Number);
  if (a === 0) return { a: { x: 1, y: -c / b }, b: { x: 0, y: -c / b } };
  if (b === 0) return { a: { x: -c / a, y: 0 }, b: { x: -c / a, y: 1 } };
  return { a: c === 0 ? { x: 1, y: -a / b } : { x: -c / a, y: 0 }, b: { x: 0, y: -c / b } };
}

/** A text where GraphQL has no such number: an id may have it, and a `Float` becomes an error. */
function parseNumber(text: string): unknown {
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}

/** The types whose values PostGraphile would lose. */
export const textForms: ReadonlyMap<PgCodec, TextForm> = new Map<PgCodec, TextForm>([
  [TYPES.date, dated('YYYY-MM-DD')],
  [TYPES.timestamp, dated('YYYY-MM-DD"T"HH24:MI:SS.US')],
  [TYPES.timestamptz, dated('YYYY-MM-DD"T"HH24:MI:SS.USTZH:TZM')],
  [TYPES.time, timed],
  [TYPES.timetz, timed],
  [TYPES.interval, { castFromPg: castInterval, listCastFromPg: castItems(castInterval), fromPg: parseInterval }],
  [TYPES.float4, { fromPg: parseNumber }],
  [TYPES.float, { fromPg: parseNumber }],
  [TYPES.line, { fromPg: parseLine }],
  // `char(3)` is padded with spaces in one statement and not in another, so that a row would have two ids.
  [TYPES.bpchar, { castFromPg: castToText, listCastFromPg: (fragment) => sql`(${fragment})::text[]::text` }],
  // A single address goes without its mask. The library takes the mask /32 from a network of IPv6, too.
  [TYPES.inet, { fromPg: (text) => text.replace(/(?<=^[\d.]+)\/32$|(?<=:.*)\/128$/, '') }],
  [TYPES.json, { fromPg: exactJson }],
  [TYPES.jsonb, { fromPg: exactJson }],
]);
