import fc from 'fast-check';

/** Boolean expressions over `app.cells`, and a schema in which they are evaluated. */
export type Expressions = {
  /** Functions, policies and views that the expressions use. */
  readonly statements: readonly string[];
  readonly expressions: readonly string[];
  /** Rows of `app.cells` and `app.others`, as tuples. */
  readonly cells: readonly string[];
  readonly others: readonly string[];
  /** Settings of the client, its claims among them. */
  readonly settings: string;
};

/** Types with values of which many are equal, or look alike in another type. */
const values = {
  int: ['0', '1', '2', '-1', '7'],
  bigint: ['0', '1', '3000000000'],
  text: ["'a'", "'A'", "'b'", "''", "'1'", "'2'", "'t'", "'2024-01-02'", "'null'", "'{1,2}'", `'${'n'.repeat(70)}'`],
  name: ["'a'", "'client'", `'${'n'.repeat(63)}'`],
  uuid: [
    "'aaaaaaaa-0000-4000-8000-000000000001'",
    "'AAAAAAAA-0000-4000-8000-000000000001'",
    "'bbbbbbbb-0000-4000-8000-000000000002'",
  ],
  date: ["'2024-01-02'", "'2024-02-01'", "'infinity'", "'1999-12-31'"],
  timestamp: ["'2024-01-02 00:00'", "'2024-01-02 12:00'", "'-infinity'"],
  timestamptz: ["'2024-01-02 00:00+00'", "'2024-01-02 00:00+02'", "'2024-02-01 00:00+00'"],
  boolean: ['true', 'false'],
  bytea: ["'\\x61'", "'\\x'", "'\\xff00'"],
  numeric: ['1', '1.0', '1.00', '0', '2.5'],
  float8: ['1', '0', "'-0'", "'NaN'", '2.5'],
  interval: ["'1 day'", "'24 hours'", "'1 month'"],
  jsonb: ["'null'", "'1'", `'{"a": "b", "b": null}'`, "'true'", `'"a"'`, "'[1, 2]'"],
  bpchar: ["'a'", "'a '", "'b'"],
  'app.mood': ["'sad'", "'glad'"],
  'app.part': ['row(1, null)', 'row(null, null)', "row(1, 'a')"],
  'app.two': ['row(null, null)::app.part', "row(1, 'a')::app.part"],
  'int[]': ["'{1,2}'", "'{}'", "'{NULL}'", "'{1,NULL}'", "'{2,1,1}'"],
  'text[]': ["'{a,b}'", "'{}'", "'{A,NULL}'", `'{"null"}'`],
  'uuid[]': ["'{aaaaaaaa-0000-4000-8000-000000000001}'", "'{}'"],
} as const satisfies Record<string, readonly string[]>;

type Type = keyof typeof values;
const types = Object.keys(values) as Type[];

/** The columns of both tables; the first two have one type, and the last of `int` is never null. */
export const columns: readonly (readonly [name: string, type: Type])[] = [
  ...types.map((type, index) => [`c${index}`, type] as const),
  ...types.map((type, index) => [`d${index}`, type] as const),
];
export const filled = 'id';

/** Where an expression stands decides which names it may use. */
type Place = 'cells' | 'others' | 'function' | 'policy';

/** Texts that end with a semicolon. */
const each = (texts: string): string[] =>
  texts
    .split(';')
    .map((text) => text.trim())
    .filter(Boolean);

/** Templates by the type of the result: `{int}` is an expression of that type, and `<bool>` one within a subquery. */
const templates: Readonly<Partial<Record<Type, readonly string[]>>> = {
  boolean: each(`
    not {boolean}; {boolean} and {boolean}; {boolean} or {boolean}; {boolean} and {boolean} and not {boolean};
    {boolean} is true; {boolean} is not true; {boolean} is false; {boolean} is not false; {boolean} is unknown;
    {boolean} is not unknown; {any} is null; {any} is not null; {any} is distinct from {same};
    {any} is not distinct from {same}; {any} = {same}; {any} = {same}; {any} = {same}; {any} <> {same};
    {any} < {same}; {any} >= {same}; {any} in ({same}, {same}); {any} not in ({same}, null);
    {any} between {same} and {same}; {any} not between {same} and {same};
    {any} between symmetric {same} and {same}; {any} = any (array[{same}, {same}]);
    {any} <> all (array[{same}, null]); {int} = any ({int[]}); {int} <> all ({int[]}); {text} = any ({text[]});
    {uuid} = any ({uuid[]}); {text} <> all ({text[]}); {int} = any ('{1,2,NULL}'); {text} = any ('{a,b}');
    {text} <> all ('{}'); {int} < any ({int[]}); {int} >= all ({int[]}); {int[]} && {int[]};
    {text[]} && {text[]}; {uuid[]} && {uuid[]}; {int[]} @> {int[]}; {text[]} @> {text[]}; {uuid[]} @> {uuid[]};
    {int[]} <@ {int[]}; {text[]} <@ {text[]}; {uuid[]} <@ {uuid[]}; {int[]} = {int[]}; {text[]} = {text[]};
    {uuid[]} = {uuid[]}; {int} = {bigint}; {int} = {numeric}; {bigint} < {int}; {text} = {name};
    {text} = {text}; {text} <> {text}; {text} = {bpchar}; {date} = {timestamp}; {timestamptz} > {date};
    {timestamp} = {timestamptz}; {numeric} = {float8}; {date} < {timestamptz}; {text} like 'a%';
    {text} like {text}; {text} ~ '^a'; {text} ilike {text}; starts_with({text}, {text}); {jsonb} ? 'a';
    {jsonb} @> {jsonb}; ({jsonb} -> 'a') = {jsonb}; {int} = null; null = {text}; {text} <> null;
    ({int}, {text}) = ({int}, {text}); ({int}, {text}) in (({int}, {text}));
    row({int}, {int}) < row({int}, {int}); case when {boolean} then {boolean} else {boolean} end;
    case {any} when {same} then {boolean} when {same} then {boolean} end; {boolean}::text::boolean;
    {int}::boolean; to_jsonb({boolean})::boolean; {jsonb}::boolean; coalesce({boolean}, {boolean});
    nullif({boolean}, {boolean}); {app.part} is null; {app.part} is not null; not ({app.part} is null);
    {app.two} is null; random() = random(); {text}::name = {name}; (select {boolean}); random() < 0.5;
    now() = now(); current_timestamp(0) = current_timestamp; isfinite({date}); current_user = 'client';
    clock_timestamp() > now(); current_timestamp(0) = now(); 'now'::timestamptz = now();`),
  int: each(`
    {int} + {int}; {int} - {int}; {int} / 2; - {int}; abs({int}); length({text}); octet_length({text});
    {int}::text::int; {boolean}::int; {int}::bigint::int; {numeric}::int; to_jsonb({int})::int; {text}::int;
    {jsonb}::int; cardinality({int[]}); app.t(); nullif(current_setting('app.t', true), '')::int;
    (select app.t()); extract(year from {date})::int; array_position({int[]}, {int}); array_length({text[]}, 1);`),
  bigint: each(`
    {int}::bigint; {numeric}::bigint; {bigint} * 2; {bigint}::text::bigint;`),
  text: each(`
    lower({text}); upper({text}); {text} || {text}; substr({text}, 1, 1); {text} collate "C"; btrim({text});
    current_setting('app.t', true); current_setting('App.U', true); current_setting('app.other', true);
    current_user::text; concat({text}, {int}); {jsonb} ->> 'a'; {any}::text; {any}::text; reverse({text});
    replace({text}, 'a', 'A'); md5({text}); to_char({date}, 'YYYY'); min_scale({numeric})::text;
    {text}::varchar(1)::text; session_user::text; quote_literal({text}); array_to_string({text[]}, ',');
    pg_typeof({any})::text; format($f$%s$f$, {text}); {int}::varchar;`),
  name: each(`
    {text}::name; current_user; current_role; session_user;`),
  uuid: each(`
    app.u(); (select app.u()); {uuid}::text::uuid; nullif(current_setting('app.u', true), '')::uuid;`),
  date: each(`
    {timestamp}::date; {date}::text::date; current_date; {date} + {int}; 'today'::date;`),
  timestamp: each(`
    {date}::timestamp; {timestamptz}::timestamp; date_trunc('day', {timestamp}); localtimestamp(0);`),
  timestamptz: each(`
    now(); {date}::timestamptz; {timestamp}::timestamptz; clock_timestamp(); current_timestamp(0);`),
  bytea: each(`
    convert_to({text}, 'UTF8'); {text}::bytea; {bytea}::text::bytea; {bytea} || {bytea};`),
  numeric: each(`
    {int}::numeric; {numeric} + {numeric}; trunc({numeric}); {numeric}::text::numeric;
    to_jsonb({numeric})::numeric;`),
  float8: each(`
    {numeric}::float8; {float8} * 2; random();`),
  interval: each(`
    {interval}::text::interval; {interval} + {interval};`),
  jsonb: each(`
    to_jsonb({any}); {jsonb} -> 'a'; jsonb_build_array({text}, {int}); {jsonb}::text::jsonb;
    jsonb_strip_nulls({jsonb});`),
  bpchar: each(`
    {text}::bpchar; {text}::char(1);`),
  'app.mood': each(`
    {app.mood}::text::app.mood;`),
  'int[]': each(`
    array[{int}, {int}]; {int[]} || {int}; array_remove({int[]}, {int}); array(select unnest({int[]}));
    {int[]}::text::int[];`),
  'text[]': each(`
    array[{text}, {text}]; string_to_array({text}, ''); {int[]}::text[];`),
  'uuid[]': each(`
    array[{uuid}, {uuid}]; array[app.u()];`),
};

/** Expressions of each type. */
const general = each(`
  coalesce({T}, {T}); nullif({T}, {T}); case when {boolean} then {T} else {T} end;
  case {int} when {int} then {T} end; greatest({T}, {T}); least({T}, {T}); (select {T});
  coalesce({T}, {T}, {T});`);

const tables = ['app.others', 'app.others', 'app.seen', 'app.seen_again', '(select * from app.others where <boolean>)'];
/** Subqueries; `o` and `p` are rows of one of the tables. */
const queries: Readonly<Record<'boolean' | 'any', readonly string[]>> = {
  boolean: each(`
    exists (select from :o where <boolean>); not exists (select from :o where <boolean> and o.id = 1);
    {any} in (select <same> from :o where <boolean>); {any} not in (select <same> from :o);
    {any} in (select <same> from :o limit 1); {any} = any (array(select <same> from :o where <boolean>));
    {any} <> all (select <same> from :o where <boolean>); {any} < any (select <same> from :o);
    {any} >= all (select <same> from :o); ({int}, {text}) in (select <int>, <text> from :o);
    exists (select from :o join :p on o.id = p.id where <boolean>);
    exists (select from :o left join :p on <boolean> and p.id > 1 where p.c0 is null);
    exists (select from :o full join :p on o.c0 = p.c0 where p.id is null);
    exists (select from :o right join :p on <boolean> where o.id is null);
    exists (select from app.others o join app.others p using (c0) where <boolean>);
    exists (select from app.others o natural join app.seen p); {int} in (select app.s());
    exists (select from (select app.s() as c0) y where c0 = {int}); {int} <> all (array(select app.s()));
    {any} in (select <same> from :o union select {same});
    {any} in (select <same> from :o intersect select <same> from :o);
    {any} in (select <same> from :o except all select {same}); {any} in (values ({same}), ({same}));
    exists (with w as (select <int> as x from :o) select from w where w.x = {int});
    exists (select 1 from :o group by o.c0 having count(*) > 1 and o.c0 > 0);
    exists (select from unnest({int[]}) as x where x = {int});
    not exists (select from unnest({text[]}) as x (y) where y = {text});
    exists (select from (select distinct <int> as x from :o) y where x = {int});
    exists (select from lateral (select {int} as x) y, :o where x = o.c0);
    exists (select from only app.others o where <boolean>); exists (select from :o where <boolean> offset 1);
    exists (select from generate_series(1, {int}) x where x = {int});
    {any} in (select <same> from :o order by o.id desc fetch first 1 rows with ties);`),
  any: each(`
    (select <T> from :o where o.id = {int} limit 1); (select <T> from :o where <boolean> order by o.id limit 1);
    (select max(<T>) from :o); (select <T> from :o where o.id = 1); (select {T} where {boolean});
    (select coalesce(<T>, {T}) from :o where o.id = 2);`),
};

const drawnTypes: readonly Type[] = types.filter((type) => !/^app\.(part|two)$/.test(type));
const memory = new Map<string, fc.Arbitrary<string>>();

/** An expression of a type, in parentheses. */
function expressionOf(type: Type, depth: number, place: Place): fc.Arbitrary<string> {
  const key = `${type} ${depth} ${place}`;
  const known = memory.get(key);
  if (known) return known;
  const leaves = leavesOf(type, place);
  const filledIn = (texts: readonly string[]) =>
    fc.constantFrom(...texts).chain((text) => fill(text, type, depth - 1, place));
  const isQueried = place !== 'policy' && depth > 0;
  const drawn =
    depth === 0
      ? leaves
      : fc.oneof(
          { withCrossShrink: true },
          { weight: type === 'boolean' ? 1 : 8, arbitrary: leaves },
          ...[templates[type] ?? []]
            .filter((own) => own.length > 0)
            .map((own) => ({ weight: 5, arbitrary: filledIn(own) })),
          { weight: 1, arbitrary: filledIn(general) },
          ...(isQueried
            ? [
                {
                  weight: type === 'boolean' ? 2 : 1,
                  arbitrary: filledIn(type === 'boolean' ? [...queries.boolean, ...queries.any] : queries.any),
                },
              ]
            : []),
          ...(place === 'function' || place === 'policy'
            ? []
            : [{ weight: 1, arbitrary: callOf(type, depth - 1, place) }]),
        );
  const arbitrary = drawn.map((text) => (/^[\w.]+$|^\(.*\)$/.test(text) && !/\).*\(/.test(text) ? text : `(${text})`));
  memory.set(key, arbitrary);
  return arbitrary;
}

function leavesOf(type: Type, place: Place): fc.Arbitrary<string> {
  const own = columns.filter(([, of]) => of === type).map(([name]) => name);
  const names: Readonly<Record<Place, readonly string[]>> = {
    cells: [...own, ...own, ...(type === 'int' ? [filled] : [])],
    others: [...own.map((name) => `o.${name}`), ...own.map((name) => `cells.${name}`)],
    policy: own,
    // The second parameter has the name of a column.
    function: type === 'int' ? ['$1', 'p1', 'c0'] : type === 'text' ? ['$3', 'p3'] : type === 'uuid' ? ['p4'] : [],
  };
  const literals = [...values[type].map((value) => `${value}::${type}`), `null::${type}`];
  return fc.oneof(...(names[place].length > 0 ? [{ weight: 4, arbitrary: fc.constantFrom(...names[place]) }] : []), {
    weight: 2,
    arbitrary: fc.constantFrom(...literals),
  });
}

/** Fills in a template: `{any}` and `{same}` are of one type, `<…>` is within a subquery. */
function fill(template: string, result: Type, depth: number, place: Place): fc.Arbitrary<string> {
  return fc.constantFrom(...drawnTypes).chain((any) => {
    const holes = [...template.matchAll(/\{([a-z][\w.]*(?:\[\])?)\}|<([a-zT][\w.]*(?:\[\])?)>|(?<!:):([op])\b/gi)];
    const parts = holes.map(([, outer, inner, alias]) => {
      if (alias !== undefined)
        return fc
          .constantFrom(...tables)
          .chain((table) =>
            table.includes('<')
              ? expressionOf('boolean', 0, 'others').map(
                  (condition) => `(select o.* from app.others o where ${condition}) ${alias}`,
                )
              : fc.constant(`${table} ${alias}`),
          );
      const named = outer ?? inner ?? '';
      const type = named === 'any' || named === 'same' ? any : named === 'T' ? result : (named as Type);
      const isInner = inner !== undefined && place !== 'function' && place !== 'policy';
      return expressionOf(type, Math.max(0, depth), isInner || place === 'others' ? 'others' : place);
    });
    return fc.tuple(...parts).map((texts) => {
      let text = '';
      let end = 0;
      for (const [index, hole] of holes.entries()) {
        text += template.slice(end, hole.index) + (texts[index] ?? '');
        end = hole.index + hole[0].length;
      }
      return text + template.slice(end);
    });
  });
}

/** Functions of a fixed name for each type, which `functions` defines. */
const returned: readonly Type[] = ['boolean', 'int', 'text', 'uuid'];
const nameOf = (type: Type, number: number) => `app.f_${type}_${number}`;

function callOf(type: Type, depth: number, place: Place): fc.Arbitrary<string> {
  if (!returned.includes(type)) return leavesOf(type, place);
  const [int, text, uuid] = (['int', 'text', 'uuid'] as const).map((of) => expressionOf(of, Math.max(0, depth), place));
  if (!int || !text || !uuid) return leavesOf(type, place);
  return fc
    .tuple(fc.integer({ min: 0, max: 2 }), int, int, text, uuid)
    .map(([number, ...args]) => `${nameOf(type, number)}(${args.join(', ')})`);
}

const options = fc.constantFrom(
  ...[
    '',
    '',
    '',
    'set search_path = pg_catalog, pg_temp',
    'set search_path = app, pg_catalog',
    "set DateStyle = 'German'",
  ],
  ...['set transform_null_equals = on', 'security definer set search_path = pg_catalog, pg_temp', 'strict', 'strict'],
);
const languages: readonly ((body: string) => string)[] = [
  (body) => `language sql :v as $$ select ${body} $$`,
  (body) => `language sql :v as $$ select ${body} $$`,
  (body) => `language sql :v return ${body}`,
  (body) => `language plpgsql :v as $$ begin return ${body}; end $$`,
  (body) => `language plpgsql :v as $$ #variable_conflict use_variable\nbegin return ${body}; end $$`,
  (body) => `language sql :v as $$ select 1; select ${body} $$`,
  (body) => `language sql :v as $$ select ${body} from app.others o order by o.id :order limit 1 $$`,
];

const functions = returned.flatMap((type) =>
  [0, 1, 2].map((number) =>
    fc
      .record({
        body: expressionOf(type, 2, 'function'),
        language: fc.constantFrom(...languages),
        volatility: fc.constantFrom('stable', 'stable', 'immutable', 'volatile'),
        order: fc.constantFrom('', 'desc'),
        option: options,
      })
      .map(
        ({ body, language, volatility, order, option }) =>
          `create function ${nameOf(type, number)}(p1 int, c0 int, p3 text, p4 uuid) returns ${type} ${language(body).replace(':v', `${volatility} ${option}`).replace(':order', order)}`,
      ),
  ),
);

const barrier = fc.constantFrom('security_invoker', 'security_barrier', 'security_barrier, security_invoker');

const schemas = fc
  .record({
    functions: fc.tuple(...functions),
    policy: expressionOf('boolean', 1, 'policy'),
    set: fc.tuple(options, fc.constantFrom('stable', 'immutable', 'volatile'), expressionOf('boolean', 1, 'policy')),
    restrictive: fc.option(expressionOf('boolean', 1, 'policy'), { nil: undefined }),
    seen: fc.tuple(barrier, expressionOf('boolean', 1, 'policy')),
    again: fc.tuple(barrier, expressionOf('boolean', 1, 'policy')),
  })
  .map(({ functions: defined, policy, restrictive, set: [option, volatility, where], seen, again }) => [
    ...defined,
    `create function app.s() returns setof int language sql ${volatility} ${option} as $$ select c0 from app.others where ${where} $$`,
    `create policy own on app.others to client using (${policy})`,
    ...(restrictive ? [`create policy narrow on app.others as restrictive to client using (${restrictive})`] : []),
    `create view app.seen with (${seen[0]}) as select * from app.others where ${seen[1]}`,
    `create view app.seen_again with (${again[0]}) as select * from app.seen where ${again[1]}`,
  ]);

const rows = (count: number) =>
  fc.array(
    fc
      .tuple(...columns.map(([, type]) => fc.constantFrom<string>(...values[type], 'null')))
      .map((drawn) => drawn.map((value, index) => `${value}::${columns[index]?.[1] ?? 'text'}`).join(', ')),
    { minLength: count, maxLength: count },
  );

const settings = fc
  .record({
    t: fc.constantFrom('1', '2', '1', '2', '', '', '0', 'x'),
    u: fc.constantFrom('aaaaaaaa-0000-4000-8000-000000000001', ''),
    other: fc.constantFrom('a', ''),
    more: fc.constantFrom(
      ...[
        '',
        '',
        'DateStyle = German',
        'bytea_output = escape',
        'search_path = app, pg_catalog',
        'transform_null_equals = on',
      ],
      ...[
        `TimeZone = 'Asia/Tokyo'`,
        'IntervalStyle = iso_8601',
        'array_nulls = off',
        'extra_float_digits = -10',
        'plan_cache_mode = force_generic_plan',
      ],
    ),
  })
  .map(({ t, u, other, more }) =>
    [`app.t = '${t}'`, `app.u = '${u}'`, `app.other = '${other}'`, more]
      .filter(Boolean)
      .map((one) => `set local ${one}`)
      .join('; '),
  );

/** Further objects of a database: names like PostgreSQL's own, and a collation that takes different texts for equal. */
const more = fc.constantFrom<readonly string[]>(
  ...[[], [], []],
  [
    "create collation app.folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
    ...['cells', 'others'].map((table) => `alter table app.${table} alter c2 type text collate app.folded`),
  ],
  [
    'create function app.lower(text) returns text language sql immutable as $$ select $1 $$',
    ...['int', 'text', 'uuid', 'boolean'].flatMap((type) => [
      `create function app.always(${type}, ${type}) returns boolean language sql immutable as $$ select true $$`,
      `create operator app.= (leftarg = ${type}, rightarg = ${type}, function = app.always)`,
    ]),
    'create domain app.uuid as pg_catalog.text',
  ],
  [
    'create function app.to_bytes(text) returns bytea language sql immutable as $$ select null::bytea $$',
    'create cast (text as bytea) with function app.to_bytes(text)',
  ],
);

/** @param count of expressions in one schema */
export const expressionsIn = (count: number): fc.Arbitrary<Expressions> =>
  fc
    .record({
      schema: schemas,
      more,
      expressions: fc.array(expressionOf('boolean', 3, 'cells'), { minLength: 1, maxLength: count, size: 'max' }),
      cells: rows(6),
      others: rows(3),
      settings,
    })
    .map(({ schema, more: first, settings: own, ...drawn }) => {
      // Only by such a path are the names of the database's own found.
      const path = first.some((one) => one.includes('operator')) ? '; set local search_path = app, pg_catalog' : '';
      return { ...drawn, statements: [...first, ...schema], settings: own + path };
    });
