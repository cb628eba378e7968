import { listOfCodec, type PgCodec, rangeOfCodec, TYPES } from 'postgraphile/@dataplan/pg';
import type { PgType } from 'postgraphile/graphile-build-pg/pg-introspection';
import { type SQL, sql } from 'postgraphile/pg-sql2';
import { refusal } from './refusal.ts';
import { baseOf, isExactNumber, mayBeInexact } from './values.ts';

/**
 * Lossless text forms: writes values as PostgreSQL does where PostGraphile's own form loses them.
 * Arrays, ranges, domains and composites of a type use its form, too. PostGraphile copies the form of a type into that of its arrays, so
 * this plugin changes the arrays after the type.
 */
export const TextFormsPlugin: GraphileConfig.Plugin = {
  name: 'TextFormsPlugin',
  after: ['PgCodecsPlugin', 'PgLtreePlugin'],

  gather: {
    hooks: {
      // A type that PostGraphile does not know, such as a multirange or that of an extension.
      pgCodecs_findPgCodec({ inflection }, event) {
        const { pgType, serviceName } = event;
        if (event.pgCodec || !['b', 'm'].includes(pgType.typtype ?? '')) return;
        const isOfCatalogue = pgType.getNamespace()?.nspname === 'pg_catalog';
        const name = isOfCatalogue ? pgType.typname : inflection.typeCodecName({ pgType, serviceName });
        event.pgCodec = textCodec(pgType, serviceName, name);
      },

      pgCodecs_PgCodec(_info, { pgCodec, pgType }) {
        // The library's own codec of an extension's type has only the name, wherever the extension is.
        if (!pgCodec.extensions?.pg && pgType.getNamespace()?.nspname !== 'pg_catalog' && !pgCodec.isAnonymous)
          Object.assign(pgCodec, { sqlType: sqlNameOf(pgType) });
        // The library's own object, which it compares by identity.
        mend(pgCodec as PgCodec, pgType.typdelim ?? ',');
        if (pgCodec.attributes && !pgCodec.isAnonymous) Object.assign(pgCodec, formOfRow(pgCodec as PgCodec));
      },

      // The `null` of JSON is a value, but null in the answer.
      pgCodecs_attribute(_info, { attribute }) {
        const base = baseOf(attribute.codec as PgCodec);
        if (base === TYPES.json || base === TYPES.jsonb) attribute.notNull = false;
      },
    },
  },

  schema: {
    entityBehavior: {
      pgCodecAttribute: {
        inferred: {
          after: ['default'],
          before: ['inferred', 'PgRelayPlugin'],
          provides: ['TextFormsPlugin'],
          // PostGraphile hides these, and fails to build a type that has no other attribute.
          callback: (behavior, [{ attributes }, name]) =>
            isOfSearch(attributes[name]?.codec as PgCodec)
              ? [behavior, 'attribute:base', 'attribute:select', 'attribute:insert', 'attribute:update']
              : behavior,
        },
      },
    },
    hooks: {
      init: {
        before: ['PgCodecs'],
        callback(_, build) {
          for (const codec of build.allPgCodecs) {
            if (!textOnly.has(codec)) continue;
            const name = build.inflection.scalarCodecTypeName(codec as never);
            const description =
              codec.description ?? `A value of PostgreSQL's type \`${codec.extensions?.pg?.name}\`, as text.`;
            build.registerScalarType(
              name,
              {},
              () => build.stringTypeSpec(description, undefined, name),
              'TextFormsPlugin',
            );
            build.setGraphQLTypeForPgCodec(codec, ['input', 'output'], name);
          }
          // A double does not keep each amount.
          build.setGraphQLTypeForPgCodec(TYPES.money, ['input', 'output'], build.inflection.builtin('BigFloat'));
          return _;
        },
      },
    },
  },
};

/** Whether values of the type have documents or queries of a full-text search. */
function isOfSearch(codec: PgCodec): boolean {
  const inner = codec.arrayOfCodec ?? codec.rangeOfCodec ?? codec.domainOfCodec;
  return inner ? isOfSearch(inner) : codec === TYPES.tsvector || codec === TYPES.tsquery;
}

const sqlNameOf = (type: PgType) => sql.identifier(type.getNamespace()?.nspname ?? '', type.typname);

/** A type whose values are PostgreSQL's own texts in the graph: each type can be written and read so. */
function textCodec(type: PgType, serviceName: string, name: string): PgCodec {
  const { tags, description } = type.getTagsAndDescription();
  const pg = { serviceName, schemaName: type.getNamespace()?.nspname ?? '', name: type.typname };
  const codec: PgCodec = {
    name,
    sqlType: sqlNameOf(type),
    fromPg: (text: string) => text,
    toPg: (text: string) => text,
    attributes: undefined,
    description,
    extensions: { oid: type._id, pg, ...(Object.keys(tags).length > 0 && { tags }) },
    executor: null,
    // As audit.graph_lints decides which key makes an id.
    hasNaturalOrdering: 'NSBDEI'.includes(type.typcategory ?? ''),
  } as PgCodec;
  textOnly.add(codec);
  return codec;
}

const textOnly = new WeakSet<PgCodec>();

/** Gives a type its form. A type that has one stays as it is: each new schema gets the same objects. */
function mend(codec: PgCodec, delimiter: string): void {
  if (codec.arrayOfCodec) {
    mend(codec.arrayOfCodec, delimiter);
    Object.assign(codec, formOfList(codec.arrayOfCodec, delimiter));
  } else if (codec.rangeOfCodec) {
    mend(codec.rangeOfCodec, delimiter);
    Object.assign(codec, formOfRange(codec, codec.rangeOfCodec));
  } else Object.assign(codec, textForms.get(baseOf(codec)));
}

/**
 * An array is the list of its items in PostgreSQL's order of storage, however many dimensions it has.
 * Its type does not tell the number of dimensions, so the schema cannot show them; `unnest` gives the same list.
 */
function formOfList(item: PgCodec, typeDelim: string): TextForm {
  const listOf = (items: PgCodec) => listOfCodec(items as typeof TYPES.text, { name: `${item.name}[]`, typeDelim });
  const { castFromPg, listCastFromPg, fromPg } = listOf(item);
  const texts = listOf({ ...TYPES.text });
  const flat = (text: string) =>
    texts
      .fromPg(text)
      .flat(maxDimensions)
      .map((part) => (part === null ? null : item.fromPg(part)));
  return {
    ...(castFromPg && { castFromPg, listCastFromPg }),
    ...(item === TYPES.jsonb && { toPg: quotedJson }),
    fromPg: (text: string) => (hasDimensions.test(text) ? flat(text) : fromPg(text)),
  } as TextForm;
}

/** `MAXDIM` of PostgreSQL. */
const maxDimensions = 6;

/** The bounds of each dimension may come first. An item that begins with a brace is in quotes. */
const hasDimensions = /^(?:\[[\d:-]+\])*=?\{\{/;

/**
 * A null range is null, and a backslash in a bound stays.
 * An empty range is an error: without bounds it would look like an unlimited one.
 */
function formOfRange(range: PgCodec, bound: PgCodec): TextForm {
  const { castFromPg: cast, fromPg: read } = rangeOfCodec(bound as typeof TYPES.text, range.name, range.sqlType);
  const fromPg = (text: string) => {
    if (text === 'empty') throw refusal('UNREPRESENTABLE', 'The stored range is empty, which no bounds can say.');
    return read(text);
  };
  const textOf = (end: Bound) => (end ? `"${String(bound.toPg(end.value as never)).replace(/["\\]/g, '\\$&')}"` : '');
  const toPg = ({ start, end }: { readonly start?: Bound; readonly end?: Bound }) =>
    `${start?.inclusive ? '[' : '('}${textOf(start)},${textOf(end)}${end?.inclusive ? ']' : ')'}`;
  if (!cast) return { fromPg, toPg } as TextForm;
  const castFromPg = (fragment: SQL) =>
    sql`(case when isempty(${fragment}) then 'empty' when (${fragment}) is not null then ${cast(fragment)} end)`;
  return { castFromPg, listCastFromPg: castItems(castFromPg), fromPg, toPg } as TextForm;
}

type Bound = { readonly value: unknown; readonly inclusive: boolean } | null | undefined;

/**
 * A row keeps its own text beside its attributes, and passes that text to a function of the row.
 * The attributes' forms are for answers, and lose what PostgreSQL distinguishes, such as the null of JSON from that of SQL.
 */
function formOfRow({ attributes, castFromPg: cast, fromPg: read, toPg: write }: PgCodec): TextForm {
  const texts = new WeakMap<object, string>();
  const rowOf = (text: string, attributesText: string) => {
    const row = {};
    // Read when it is selected, since an attribute may have no form for answers.
    const get = (name: string) => () => read(attributesText)[name];
    for (const name in attributes) Object.defineProperty(row, name, { get: get(name), enumerable: true });
    texts.set(row, text);
    return row;
  };
  const toPg = (row: object) => texts.get(row) ?? write(row);
  if (!cast) return { toPg, fromPg: (text: string) => rowOf(text, text) } as TextForm;
  const castFromPg = (fragment: SQL) =>
    sql`(case when (${fragment}) is distinct from null then json_build_array((${fragment})::text, ${cast(fragment)})::text end)`;
  const fromPg = (pair: string) => rowOf(...(JSON.parse(pair) as [string, string]));
  return { castFromPg, listCastFromPg: castItems(castFromPg), toPg, fromPg } as TextForm;
}

/** An array of JSON as text: a string of JSON escapes quotes and backslashes, as an array does. */
const quotedJson = (items: readonly unknown[]) =>
  `{${items.map((item) => (item == null ? 'NULL' : JSON.stringify(JSON.stringify(item)))).join()}}`;

/** How PostgreSQL writes values of a type as text, alone and in an array, and how that is read. */
type TextForm = Partial<Pick<PgCodec, 'castFromPg' | 'listCastFromPg' | 'fromPg' | 'toPg'>>;

type Cast = (fragment: SQL) => SQL;

/** The text of an array's items, each by its own cast. */
const castItems =
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
const textForms: ReadonlyMap<PgCodec, TextForm> = new Map<PgCodec, TextForm>([
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

/**
 * JSON whose numbers are written again as they were read (ECMAScript 2026, `JSON.rawJSON`).
 * A number that a double cannot keep would change in the answer.
 */
function exactJson(text: string): unknown {
  if (!mayBeInexact.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) => {
    const source = typeof value === 'number' ? context?.source : undefined;
    return source === undefined || isExactNumber(source) ? value : rawJson(source);
  });
}

const { rawJSON: rawJson } = JSON as typeof JSON & { rawJSON(text: string): unknown };
