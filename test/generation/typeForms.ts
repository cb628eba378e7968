import { type ColumnType, enumValues, types } from '../oracle/tables/types.ts';

/** Values of a type as PostgreSQL reads them, and what a client gets for the text that PostgreSQL writes for each. */
export type TypeForm = Pick<ColumnType, 'sql' | 'values' | 'toJson'> & {
  /** Fields to select, of an object type. */
  readonly selection?: string;
  /** How SQL writes it, if not by a cast to text. */
  readonly asText?: (expression: string) => string;
};

const same = (text: string) => text;
const asText = (sql: string, ...values: readonly string[]): TypeForm => ({ sql, values, toJson: same });
const numbersIn = (text: string) => Array.from(text.matchAll(/-?[\d.]+(?:e[+-]?\d+)?/g), ([number]) => Number(number));
const pointsIn = (text: string) => {
  const numbers = numbersIn(text);
  return Array.from({ length: numbers.length / 2 }, (_, n) => ({ x: numbers[2 * n], y: numbers[2 * n + 1] }));
};
const pair = (text: string) => {
  const [a, b] = pointsIn(text);
  return { a, b };
};
const corners = '{ a { x y } b { x y } }';

/** By hand: two points of each line. */
const lines = {
  '{1,-1,0}': { a: { x: 1, y: 1 }, b: { x: 0, y: 0 } },
  '{0,-1,5}': { a: { x: 1, y: 5 }, b: { x: 0, y: 5 } },
  '{-1,0,3}': { a: { x: 3, y: 0 }, b: { x: 3, y: 1 } },
  '{2,-1,-4}': { a: { x: 2, y: 0 }, b: { x: 0, y: -4 } },
};

const json = { ...types.jsonb, values: types.jsonb.values.filter((text) => text !== 'null') };

/** By the names of pg_catalog's types that are neither arrays, ranges nor pseudo-types. */
export const typeForms: Readonly<Record<string, TypeForm>> = {
  bool: types.bool,
  int2: types.int2,
  int4: types.int4,
  int8: types.int8,
  float4: types.float4,
  float8: types.float8,
  numeric: types.numeric,
  money: {
    ...asText('money', '1.50', '-0.01', '0', '12345.67', '92233720368547758.07'),
    toJson: (text) => text.replaceAll(/[$,]/g, ''),
  },
  oid: types.oid,
  text: types.text,
  varchar: types.varchar,
  bpchar: types.char,
  char: asText('"char"', 'a', 'Z'),
  name: asText('name', 'ab', 'Zz', 'a "b"'),
  uuid: types.uuid,
  date: types.date,
  time: types.time,
  timetz: types.timetz,
  timestamp: types.timestamp,
  timestamptz: types.timestamptz,
  interval: types.interval,
  inet: types.inet,
  cidr: types.cidr,
  macaddr: types.macaddr,
  macaddr8: asText('macaddr8', '08:00:2b:01:02:03:04:05', '00:00:00:00:00:00:00:01'),
  bytea: types.bytea,
  bit: types.bit,
  varbit: types.varbit,
  json: { ...json, sql: 'json', asText: (expression) => `(${expression})::jsonb::text` },
  jsonb: json,
  jsonpath: asText('jsonpath', '$."a"', '$."b"[*]'),
  xml: asText('xml', '<a/>', '<b c="1">x &amp; y</b>'),
  tsvector: asText('tsvector', "'a' 'b'", "'cat':3 'dog':1,5"),
  tsquery: asText('tsquery', "'a' & 'b'", "!'c'"),
  point: { ...asText('point', '(1,2)', '(-0.5,1e+30)'), toJson: (text) => pointsIn(text)[0], selection: '{ x y }' },
  lseg: { ...asText('lseg', '[(1,2),(3,4)]', '[(0,0),(-1,1)]'), toJson: pair, selection: corners },
  box: { ...asText('box', '(3,4),(1,2)', '(1,1),(0,0)'), toJson: pair, selection: corners },
  line: {
    ...asText('line', ...Object.keys(lines)),
    toJson: (text) => lines[text as keyof typeof lines],
    selection: corners,
  },
  path: {
    ...asText('path', '((1,2),(3,4))', '[(1,2),(3,4),(5,6)]'),
    toJson: (text) => ({ points: pointsIn(text), isOpen: text.startsWith('[') }),
    selection: '{ points { x y } isOpen }',
  },
  polygon: {
    ...asText('polygon', '((0,0),(1,1),(2,0))', '((0,0),(0,5),(5,5),(5,0))'),
    toJson: (text) => ({ points: pointsIn(text) }),
    selection: '{ points { x y } }',
  },
  circle: {
    ...asText('circle', '<(1,2),3>', '<(0,0),0.5>'),
    toJson: (text) => ({ center: pointsIn(text)[0], radius: numbersIn(text)[2] }),
    selection: '{ center { x y } radius }',
  },
  regproc: asText('regproc', 'pg_backend_pid', 'version'),
  regprocedure: asText('regprocedure', 'now()', 'version()'),
  regoper: asText('regoper', '||/', '|/'),
  regoperator: asText('regoperator', '+(integer,integer)', '-(integer,integer)'),
  regclass: asText('regclass', 'pg_class', 'pg_type'),
  regcollation: asText('regcollation', '"C"', '"POSIX"'),
  regtype: asText('regtype', 'integer', 'text'),
  regrole: asText('regrole', 'graph_app', 'graph_user'),
  regnamespace: asText('regnamespace', 'pg_catalog', 'public'),
  regconfig: asText('regconfig', 'english', 'simple'),
  regdictionary: asText('regdictionary', 'simple', 'english_stem'),
  int2vector: asText('int2vector', '1 2', '3'),
  oidvector: asText('oidvector', '1 2', '4294967295'),
  tid: asText('tid', '(0,1)', '(1,2)'),
  xid: asText('xid', '1', '4294967295'),
  xid8: asText('xid8', '1', '18446744073709551615'),
  cid: asText('cid', '1', '7'),
  pg_lsn: asText('pg_lsn', '0/1', '16/B374D848'),
  pg_snapshot: asText('pg_snapshot', '10:20:10,14,15', '1:1:'),
  txid_snapshot: asText('txid_snapshot', '10:20:10,14,15', '1:1:'),
  refcursor: asText('refcursor', 'c1', '<unnamed portal 1>'),
  aclitem: asText('aclitem', '=r/graph_app', 'graph_app=rw/graph_user'),
};

/** Types of a migration: an enum, and what extensions bring. */
export const otherForms: Readonly<Record<string, TypeForm>> = {
  enum: { ...types.enum, values: enumValues },
  citext: asText('public.citext', 'a', 'B', ''),
  // A literal has only keys that are names in GraphQL.
  hstore: {
    ...asText('public.hstore', '"a"=>"1"', '"b"=>NULL, "c_d"=>"\\"e\\\\"', ''),
    toJson: (text) =>
      Object.fromEntries(
        Array.from(text.matchAll(/("(?:[^"\\]|\\.)*")=>("(?:[^"\\]|\\.)*"|NULL)/g), ([, key = '', value = '']) => [
          JSON.parse(key),
          value === 'NULL' ? null : JSON.parse(value),
        ]),
      ),
  },
  ltree: asText('public.ltree', 'a', 'a.b.c'),
  lquery: asText('public.lquery', 'a.*', '*.b{2}'),
  cube: asText('public.cube', '(1, 2)', '(0, 0),(1, 1)'),
  seg: asText('public.seg', '1 .. 2', '5'),
  isbn: asText('public.isbn', '0-306-40615-2', '1-4133-0454-0'),
  ean13: asText('public.ean13', '978-0-306-40615-7', '9781413304541'),
};

export const extensions = ['citext', 'hstore', 'ltree', 'cube', 'seg', 'isn'] as const;
