import { instant, interval, pair, range, same, texts, time, words } from './jsonForms.ts';

/**
 * Column types: their values as PostgreSQL reads them, and what a client gets for each.
 *
 * The JSON form is written from the SDL: `Int` and `Float` are numbers, the other scalars strings. It starts from the text that
 * PostgreSQL gives the owner of the database under `TimeZone = UTC` and `DateStyle = ISO`.
 */
export type ColumnType = {
  readonly sql: string;
  /** Name of the type in GraphQL. */
  readonly graphql: string;
  readonly values: readonly string[];
  toJson(text: string): unknown;
  /** Fields to select, of an object type. */
  readonly selection?: string;
  readonly isKey?: true;
  readonly isText?: true;
  /** A type without an operator class for B-trees. */
  readonly isUnordered?: true;
  readonly isList?: true;
};

export const enumValues = ['zeta', 'alpha', 'in-repair', 'a bit of both', 'UPPER', 'eta'] as const;
const enumName = (text: string) => text.replaceAll(/[^_A-Za-z0-9]/g, '_');

export const types = {
  int2: {
    sql: 'smallint',
    graphql: 'Int',
    values: ['-32768', '-1', '0', '1', '2', '32767'],
    toJson: Number,
    isKey: true,
  },
  int4: {
    sql: 'int',
    graphql: 'Int',
    values: ['-2147483648', '-1', '0', '1', '2', '10', '9', '2147483647'],
    toJson: Number,
    isKey: true,
  },
  int8: {
    sql: 'bigint',
    graphql: 'BigInt',
    values: ['-9223372036854775808', '-1', '0', '9', '10', '9007199254740993', '9223372036854775807'],
    toJson: same,
    isKey: true,
  },
  numeric: {
    sql: 'numeric',
    graphql: 'BigFloat',
    values: [
      '-1e30',
      '-0.1',
      '0',
      '0.0',
      '1.50',
      '1.5',
      '10',
      '9',
      '1e-20',
      '12345678901234567890.123',
      'NaN',
      'Infinity',
    ],
    toJson: same,
    isKey: true,
  },
  money: {
    sql: 'numeric(12,2)',
    graphql: 'BigFloat',
    values: ['-1.50', '0', '9.99', '10', '1234567890.12'],
    toJson: same,
    isKey: true,
  },
  float4: {
    sql: 'real',
    graphql: 'Float',
    values: ['-1.5', '0', '0.1', '16777216', '1e-30'],
    toJson: Number,
  },
  float8: {
    sql: 'float8',
    graphql: 'Float',
    values: ['-1e300', '-1', '0', '0.1', '0.30000000000000004', '1e300', '5e-324'],
    toJson: Number,
  },
  bool: { sql: 'boolean', graphql: 'Boolean', values: ['true', 'false'], toJson: (text) => text === 'true' },
  text: { sql: 'text', graphql: 'String', values: texts, toJson: same, isKey: true, isText: true },
  textC: { sql: 'text collate "C"', graphql: 'String', values: texts, toJson: same, isKey: true, isText: true },
  textIcu: {
    sql: 'text collate "und-x-icu"',
    graphql: 'String',
    values: texts,
    toJson: same,
    isKey: true,
    isText: true,
  },
  varchar: { sql: 'varchar(20)', graphql: 'String', values: texts, toJson: same, isKey: true, isText: true },
  char: {
    sql: 'char(4)',
    graphql: 'String',
    values: ['', 'a', 'a ', 'ab', 'B', 'b', ' a', 'abcd', 'ä'],
    toJson: same,
    isKey: true,
  },
  uuid: {
    sql: 'uuid',
    graphql: 'UUID',
    values: ['0', '1', '9', 'a', 'f'].map((digit) => `${digit}0000000-0000-4000-8000-000000000001`),
    toJson: same,
    isKey: true,
  },
  date: {
    sql: 'date',
    graphql: 'Date',
    values: [
      '0001-01-01',
      '1970-01-01',
      '2024-02-29',
      '9999-12-31',
      '12345-01-01',
      'infinity',
      '-infinity',
      '0044-03-15 BC',
    ],
    toJson: same,
    isKey: true,
  },
  time: {
    sql: 'time',
    graphql: 'Time',
    values: ['00:00', '12:00:00.000001', '12:00:00.000002', '23:59:59.999999', '24:00'],
    toJson: time,
  },
  timetz: {
    sql: 'timetz',
    graphql: 'Time',
    values: ['00:00+02', '12:00:00.000001+00', '12:00:00.1-05:30', '24:00+00'],
    toJson: time,
  },
  oid: { sql: 'oid', graphql: 'Oid', values: ['0', '9', '10', '2147483648', '4294967295'], toJson: Number },
  dates: {
    sql: 'date[]',
    graphql: '[Date]',
    values: ['{}', '{2024-02-29,NULL}', '{infinity,-infinity}', '{"0044-03-15 BC"}', '{{2024-01-01},{infinity}}'],
    toJson: words,
    isList: true,
  },
  timestamp: {
    sql: 'timestamp',
    graphql: 'Datetime',
    values: [
      '0001-01-01 00:00',
      '2024-02-29 12:00:00.000001',
      '2024-02-29 12:00:00.000002',
      '2024-03-31 02:30',
      '9999-12-31 23:59:59.999999',
      'infinity',
      '0044-03-15 00:00 BC',
    ],
    toJson: instant,
    isKey: true,
  },
  timestamptz: {
    sql: 'timestamptz',
    graphql: 'Datetime',
    values: [
      '0001-01-01 00:00Z',
      '2024-02-29 12:00:00.1+02',
      '2024-02-29 12:00:00.000002+02',
      '2024-10-27 02:30+01',
      '9999-12-31 23:59:59.999999Z',
      '-infinity',
      'infinity',
      '0044-03-15 00:00Z BC',
    ],
    toJson: instant,
    isKey: true,
  },
  interval: {
    sql: 'interval',
    graphql: 'Interval',
    values: [
      '-1 year',
      '1 microsecond',
      '29 days',
      '30 days',
      '1 mon',
      '1 mon 1 day',
      '24:00:00',
      '1 day',
      '100 years',
      '-2 days 25:00:00.5',
      '-1.5 seconds',
    ],
    toJson: interval,
    selection: '{ years months days hours minutes seconds }',
  },
  inet: {
    sql: 'inet',
    graphql: 'InternetAddress',
    values: ['10.0.0.1', '10.0.0.2', '10.0.0.10', '10.0.0.255/24', '9.0.0.0', '::1', 'ff::/16', '2001:db8::/32'],
    // PostgreSQL writes the mask of a single address in a cast only.
    toJson: (text) => text.replace(/(?<=^[\d.]+)\/32$|(?<=:.*)\/128$/, ''),
  },
  cidr: {
    sql: 'cidr',
    graphql: 'CidrAddress',
    values: ['10.0.0.0/8', '10.0.0.0/16', '9.0.0.0/24', '::/0'],
    toJson: same,
  },
  macaddr: {
    sql: 'macaddr',
    graphql: 'MacAddress',
    values: ['00:00:00:00:00:01', '08:00:2b:01:02:03', 'ff:ff:ff:ff:ff:ff'],
    toJson: same,
  },
  bytea: {
    sql: 'bytea',
    graphql: 'Base64EncodedBinary',
    values: ['\\x', '\\x00', '\\x0001', '\\x7f', '\\xff', '\\x5c27'],
    toJson: (text) => Buffer.from(text.slice(2), 'hex').toString('base64'),
  },
  bit: { sql: 'bit(4)', graphql: 'BitString', values: ['0000', '0001', '1010', '1111'], toJson: same },
  varbit: { sql: 'varbit', graphql: 'BitString', values: ['', '0', '00', '01', '1', '10'], toJson: same },
  json: {
    sql: 'json',
    graphql: 'JSON',
    values: ['null', '"a"', '1.50', '{"b": 1, "a": [null, {"c": "\\u00e9\\""}]}', '[]'],
    toJson: (text) => JSON.parse(text),
    isUnordered: true,
  },
  jsonb: {
    sql: 'jsonb',
    graphql: 'JSON',
    values: ['null', '"a"', '""', '1', '10', '9', 'true', '[1, 2]', '{"a": {"b": "}"}}', '{}'],
    toJson: (text) => JSON.parse(text),
  },
  range: {
    sql: 'int4range',
    graphql: 'IntRange',
    values: ['[1,2)', '[1,3)', '(,5)', '[5,)', '(,)'],
    toJson: range,
    selection: '{ start { value inclusive } end { value inclusive } }',
  },
  enum: { sql: 'app_public.drawn_enum', graphql: 'DrawnEnum', values: enumValues, toJson: enumName, isKey: true },
  domain: {
    sql: 'app_public.drawn_domain',
    graphql: 'DrawnDomain',
    values: ['0', '2.50', '2.5', '100'],
    toJson: same,
    isKey: true,
  },
  shelf: {
    sql: 'app_public.drawn_shelf',
    graphql: 'DrawnShelf',
    values: ['1', '2', '9', '10', '2147483647'],
    toJson: Number,
    isKey: true,
  },
  step: {
    sql: 'app_public.drawn_step',
    graphql: 'DrawnStep',
    values: ['-32768', '-1', '0', '7', '32767'],
    toJson: Number,
    isKey: true,
  },
  serial: {
    sql: 'app_public.drawn_serial',
    graphql: 'DrawnSerial',
    values: ['-9223372036854775808', '0', '9007199254740993'],
    toJson: same,
    isKey: true,
  },
  flag: {
    sql: 'app_public.drawn_flag',
    graphql: 'DrawnFlag',
    values: ['true', 'false'],
    toJson: (text) => text === 'true',
  },
  code: {
    sql: 'app_public.drawn_code',
    graphql: 'DrawnCode',
    values: ['', 'a', 'B', "it's", '10', '9'],
    toJson: same,
    isKey: true,
  },
  plate: {
    sql: 'text collate "C"',
    graphql: 'String',
    values: ['B-AB 123', 'M-Ü 1', 'WIL D/7', '東京 330 あ 12-34', 'b-ab 123', '0 123', '*'],
    toJson: same,
    isKey: true,
    isText: true,
  },
  citext: {
    sql: 'public.citext',
    graphql: 'String',
    values: ['', 'a', 'A', 'b', 'B', 'Ä', 'ä', '_', '10', '9'],
    toJson: same,
    isKey: true,
  },
  shelves: {
    sql: 'app_public.drawn_shelf[]',
    graphql: '[DrawnShelf]',
    values: ['{}', '{1}', '{2,NULL}', '{2147483647,1}'],
    toJson: (text) => JSON.parse(`[${text.slice(1, -1).replaceAll('NULL', 'null')}]`),
    isList: true,
  },
  ints: {
    sql: 'int[]',
    graphql: '[Int]',
    values: ['{}', '{1}', '{1,NULL}', '{10}', '{9}', '{1,2,3}', '{{1,2},{3,4}}'],
    toJson: (text) => JSON.parse(`[${text.replaceAll(/[{}]/g, '').replaceAll('NULL', 'null')}]`),
    isList: true,
  },
  words: {
    sql: 'text[]',
    graphql: '[String]',
    values: ['{}', '{""}', '{a,NULL}', '{"a,b"}', '{"{}"}', '{"\\"\\\\"}', '{b}', '{"NULL"}', '{{a,b},{"{c}",NULL}}'],
    toJson: words,
    isList: true,
  },
  composite: {
    sql: 'app_public.drawn_pair',
    graphql: 'DrawnPair',
    values: ['("",1)', '(a,10)', '(a,9)', '("b ""c"", (\\\\)",0)', '(z,)'],
    toJson: (text) => pair(text),
    selection: '{ word amount }',
  },
} as const satisfies Record<string, ColumnType>;

export type TypeName = keyof typeof types;
export const typeNames = Object.keys(types) as TypeName[];
export const typeOf = (name: TypeName): ColumnType => types[name];

/** The types that the others need; `amount` is a bigint, so that it is a string in JSON. */
export const typesSql = `
  create type app_public.drawn_enum as enum (${enumValues.map((value) => `'${value}'`).join(', ')});
  create domain app_public.drawn_domain as numeric check (value between 0 and 100);
  create domain app_public.drawn_shelf as int check (value > 0);
  create domain app_public.drawn_small as smallint;
  create domain app_public.drawn_step as app_public.drawn_small;
  create domain app_public.drawn_serial as bigint;
  create domain app_public.drawn_flag as boolean;
  create domain app_public.drawn_code as text check (length(value) < 5);
  create type app_public.drawn_pair as (word text, amount bigint);`;
