import { isDeepStrictEqual } from 'node:util';
import {
  buildSchema,
  type GraphQLInputType,
  type GraphQLSchema,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
} from 'graphql';
import { undone } from '../audit/support.ts';
import { ask, createTenant, type OwnGraphTest, startGraphTest, type Tenant } from '../graphql/support.ts';
import { isWhole } from '../support/search.ts';
import { define, sqlBody } from './doors.ts';
import { tableSql } from './tables.ts';
import { extensions, otherForms, type TypeForm, typeForms } from './typeForms.ts';

// Every type of PostgreSQL, and what can be made of it, in every place of the graph: it is right, or audit.findings has it.
// Plain SQL of another connection writes and reads the same values. `npm run -s test:system -- generation/types` asks about all types.

// `TYPES=int4,jsonb` asks about these alone.
const shown =
  process.env.TYPES?.split(',') ?? (isWhole ? [...Object.keys(typeForms), ...Object.keys(otherForms)] : ['hstore']);
/** A service builds its schema with so many types at once. */
const typesOfABuild = 8;
/** A type has at most so many values, the least and the greatest among them. */
const maxValues = 4;

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await startGraphTest({}, async ({ owner }) => {
    for (const name of extensions) await owner.query(`create extension ${name} schema public`);
    await owner.query(`
      grant execute on all functions in schema public to graph_app;
      create type app_public.drawn_enum as enum (${otherForms.enum?.values.map((value) => `'${value}'`).join(', ')})`);
  });
  tenant = await createTenant(graph);
});
afterAll(() => graph.stop());

/** A type that is made of one of PostgreSQL's, and its values. */
type Variant = {
  /** The name of its column. */
  readonly name: string;
  readonly sql: string;
  /** The type beneath a domain: SQL finds no operators for a domain over an enum or a range. */
  readonly base: string;
  readonly creates?: string;
  readonly values: readonly string[];
  /** An expression of jsonb that has the value's parts as PostgreSQL writes them as text. */
  read(expression: string): string;
  /** What a client gets for what was read. */
  toJson(read: never): unknown;
  readonly selection: string;
  readonly isList: boolean;
};

const rangesOf: Readonly<Record<string, string>> = {
  ...{ int4: 'int4range', int8: 'int8range', numeric: 'numrange' },
  ...{ date: 'daterange', timestamp: 'tsrange', timestamptz: 'tstzrange' },
};

/** @param prefix of the names of what is made */
function variantsOf(type: string, form: TypeForm, prefix: string, isOrdered: boolean): Variant[] {
  const { sql, asText = (expression: string) => `(${expression})::text`, selection = '' } = form;
  const made = (name: string) => `app_public.${prefix}_${name}`;
  const step = Math.max(1, (form.values.length - 1) / (maxValues - 1));
  const chosen = Array.from(
    { length: Math.min(maxValues, form.values.length) },
    (_, n) => form.values[Math.round(n * step)],
  );
  const values = chosen.map((value = '') => `${literal(value)}::${sql}`);
  const after = (index: number) => values[(index + 1) % values.length] ?? '';
  const plain: Variant = {
    ...{ name: 'plain', sql, base: sql, values, selection, isList: false },
    read: (expression) => `to_jsonb(${asText(expression)})`,
    toJson: (text) => form.toJson(text),
  };
  const domainOf = (variant: Variant, name: string): Variant => {
    const inner = variant.values.map((value) => `(${value})::${made(name)}`);
    return {
      ...variant,
      name,
      sql: made(name),
      values: inner,
      creates: `create domain ${made(name)} as ${variant.sql};`,
    };
  };
  const listOf = ({ creates: _, ...item }: Variant, name: string): Variant => ({
    ...{ ...item, name, sql: `${item.sql}[]`, base: `${item.sql}[]`, isList: true },
    values: item.values.map(
      (value, n) => `array[${value}, ${item.values[(n + 1) % item.values.length]}]::${item.sql}[]`,
    ),
    read: (list) =>
      `case when (${list}) is not null then (select jsonb_agg(${item.read(`(${list})[${name}_n]`)} order by ${name}_n) from generate_subscripts(${list}, 1) ${name}_n) end`,
    toJson: (items: never[]) => items.map((one) => item.toJson(one)),
  });
  const domain = domainOf(plain, 'domain');
  const list = listOf(plain, 'list');
  const pair: Variant = {
    ...{ name: 'pair', sql: made('pair'), base: made('pair'), isList: false },
    creates: `create type ${made('pair')} as (one ${sql}, two ${domain.sql}, more ${list.sql});`,
    values: values.map((value, n) => `row(${value}, ${after(n)}, array[${value}])::${made('pair')}`),
    read: (row) =>
      `case when (${row}) is distinct from null then jsonb_build_array(${plain.read(`(${row}).one`)}, ${domain.read(`(${row}).two`)}, ${list.read(`(${row}).more`)}) end`,
    toJson: ([one, two, more]: never[]) => ({
      one: plain.toJson(one as never),
      two: domain.toJson(two as never),
      more: list.toJson(more as never),
    }),
    selection: `{ one ${selection} two ${selection} more ${selection} }`,
  };
  const rangeOf = (item: Variant, name: string, known?: string): Variant => {
    const range = known ?? made(name);
    const bounds = item.values.map((value, n) => [value, item.values[(n + 1) % item.values.length]] as const);
    return {
      ...{ name, sql: range, base: range, isList: false },
      ...(!known && { creates: `create type ${range} as range (subtype = ${item.sql.replace(/\(.*/, '')});` }),
      values: bounds.flatMap(([one, two]) => [
        `${range}(least(${one}, ${two}), greatest(${one}, ${two}), '[)')`,
        `${range}(null, ${one}, '()')`,
      ]),
      read: (expression) =>
        `case when (${expression}) is not null then jsonb_build_array(lower_inc(${expression}), ${item.read(`lower(${expression})`)}, ${item.read(`upper(${expression})`)}, upper_inc(${expression})) end`,
      toJson: ([isFrom, from, to, isTo]: never[]) => ({
        start: from === null ? null : { value: item.toJson(from as never), inclusive: isFrom },
        end: to === null ? null : { value: item.toJson(to as never), inclusive: isTo },
      }),
      selection: `{ start { value ${selection} inclusive } end { value ${selection} inclusive } }`,
    };
  };
  const common = [
    plain,
    list,
    domain,
    domainOf({ ...domain }, 'nested'),
    domainOf(list, 'list_domain'),
    listOf(domain, 'domains'),
    pair,
    listOf(pair, 'pairs'),
  ];
  if (!isOrdered) return common;
  const range = rangeOf(plain, 'range', rangesOf[type]);
  const ofRanges = range.sql.replace(/range$/, 'multirange');
  const multirange: Variant = {
    ...{ name: 'multirange', sql: ofRanges, base: ofRanges, isList: false, selection: '' },
    values: range.values.map((value, n) => `${ofRanges}(${value}, ${range.values[n + 1] ?? value})`),
    read: (expression) => `to_jsonb((${expression})::text)`,
    toJson: (text) => text,
  };
  return [
    ...common,
    range,
    domainOf(range, 'range_domain'),
    listOf(range, 'ranges'),
    rangeOf(domain, 'domain_range'),
    multirange,
    domainOf(multirange, 'multirange_domain'),
    listOf(multirange, 'multiranges'),
  ];
}

const literal = (text: string) => `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
const camelCase = (name: string) => name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());

const operators = { Any: '', From: ' from', Until: ' until', Is: ' is', None: ' isNull' } as const;
type Operator = keyof typeof operators;

/** A table with a column of each variant, and functions that take and return each. */
class TypeTable {
  readonly name: string;
  readonly type: string;
  readonly variants: readonly Variant[];
  readonly rows: number;
  readonly isOrdered: boolean;
  /** Columns that a B-tree has, and filters that are findings, by the names of their columns. */
  readonly ordered = new Set<string>();
  readonly findings = new Set<string>();

  constructor(type: string, form: TypeForm, index: number, isOrdered: boolean) {
    this.type = type;
    this.isOrdered = isOrdered;
    this.name = `x${index}_items`;
    this.variants = variantsOf(type, form, `x${index}`, isOrdered);
    this.rows = Math.max(...this.variants.map(({ values }) => values.length));
  }

  creates(): string {
    const { name, variants } = this;
    const columns = variants.map((variant) => `${variant.name} ${variant.sql}`).join(', ');
    const functions = variants.flatMap(({ name: column, sql, read, isList }) => [
      `create type app_public.${name}_${column}_input as (value ${sql});`,
      define(
        `${name}_${column}_one(item app_public.${name})`,
        `returns ${sql} ${sqlBody(`select item.${column}`, 'stable')}`,
        'One.',
      ),
      ...(isList
        ? []
        : [
            define(
              `${name}_${column}_set(item app_public.${name})`,
              `returns setof ${sql} ${sqlBody(`select item.${column}`, 'stable')}`,
              'A set.',
            ),
            define(
              `${name}_${column}_array(item app_public.${name})`,
              `returns ${sql}[] ${sqlBody(`select array[item.${column}]`, 'stable')}`,
              'A list.',
            ),
          ]),
      define(
        `${name}_${column}_echo(value ${sql} default null)`,
        `returns text ${sqlBody(`select (${read('value')})::text`)}`,
        '@mutation\nThe same.',
      ),
      define(
        `${name}_${column}_given(given app_public.${name}_${column}_input)`,
        `returns text ${sqlBody(`select (${read('(given).value')})::text`)}`,
        '@mutation\nThe same.',
      ),
    ]);
    return `${variants.map(({ creates = '' }) => creates).join('\n')}
      ${tableSql({ name, columns: `mark int, ${columns}`, key: ['mark'] })}
      ${functions.join('\n')}`;
  }

  inserts(organizationId: string): string {
    const rows = Array.from({ length: this.rows }, (_, row) =>
      this.variants.map(({ values }) => values[row % values.length]).join(', '),
    );
    const nulls = this.variants.map(() => 'null').join(', ');
    return `insert into app_public.${this.name} values ${[...rows, nulls].map((row, mark) => `('${organizationId}', ${mark}, ${row})`).join(', ')}`;
  }

  /** Fails where PostgreSQL cannot sort the values. */
  indexes(): string {
    return this.variants
      .map(
        ({ name }) =>
          `do $$ begin create index on app_public.${this.name} (organization_id, ${name}); exception when others then null; end $$;`,
      )
      .join('\n');
  }

  comments(): string {
    return this.variants
      .map(({ name }) => {
        const tags = Object.entries(operators).filter(([operator]) => !this.findings.has(`${name}${operator}`));
        const lines = tags.map(([operator, word]) => `@filter ${camelCase(name)}${operator}${word}\\n`).join('');
        return `comment on column app_public.${this.name}.${name} is E'${lines}Column ${name}.';`;
      })
      .join('\n');
  }

  drops(): string {
    const types = this.variants.flatMap(({ name, creates }) => [
      `drop type app_public.${this.name}_${name}_input cascade;`,
      ...(creates ? [`drop type ${creates.split(' ')[2]} cascade;`] : []),
    ]);
    return `drop table app_public.${this.name} cascade;
      do $$ declare f regprocedure; begin
        for f in select oid from pg_proc where proname ^@ '${this.name}_' loop execute format('drop function %s', f); end loop;
      end $$;
      ${types.toReversed().join('\n')}`;
  }
}

/** How many cells there are, and what is wrong in which. */
const cells = { all: 0, findings: 0, wrong: [] as string[] };

const judge = (cell: string, expected: unknown, got: unknown, errors?: unknown) => {
  cells.all++;
  if (isDeepStrictEqual(normal(got), normal(expected)) && !errors) return;
  const text = (value: unknown) => JSON.stringify(value)?.slice(-300);
  cells.wrong.push(`${cell}: expected ${text(expected)}, got ${text(got)} ${errors ? text(errors) : ''}`);
};

/** Without prototypes, undefined and the sign of a zero. */
const normal = (value: unknown) => JSON.parse(JSON.stringify(value ?? null)) as unknown;

test('every type is right in every place, or is a finding', async () => {
  const { owner } = graph.database;
  for (let first = 0; first < shown.length; first += typesOfABuild) {
    const names = shown.slice(first, first + typesOfABuild);
    const tables = await Promise.all(
      names.map(async (name, index) => {
        const form = typeForms[name] ?? otherForms[name];
        if (!form) throw new Error(`There is no type ${name}.`);
        return new TypeTable(name, form, first + index, await canBeRange(form.sql));
      }),
    );
    for (const table of tables) {
      await owner.query(table.creates());
      await owner.query(table.inserts(tenant.organizationId));
      await owner.query(table.indexes());
      await owner.query(table.comments());
      await readCatalogue(table);
      await owner.query(table.comments());
    }
    await graph.reload();
    const schema = buildSchema(await (await fetch(`${graph.url}/graphql/schema.graphql`)).text());
    for (const table of tables) {
      await askForRows(table);
      await sendValues(table, schema);
      await askByArguments(table, schema);
      await owner.query(table.drops());
    }
  }
  process.stdout.write(
    `${cells.all} cells of ${shown.length} types: ${cells.all - cells.findings - cells.wrong.length} are right, ${cells.findings} are findings\n`,
  );

  expect(cells.wrong).toEqual([]);
  expect(cells.all).toBeGreaterThan(200 * shown.length);
}, 3_600_000);

const canBeRange = (sql: string): Promise<boolean> =>
  undone(graph.database.owner, `create type app_public.tried as range (subtype = ${sql.replace(/\(.*/, '')})`).then(
    () => true,
    () => false,
  );

/** Which columns have an index, and which filters are findings. */
async function readCatalogue({ name, variants, ordered, findings }: TypeTable): Promise<void> {
  const { owner } = graph.database;
  const indexed = await owner.query<{ column: string }>(
    `select a.attname as column from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[1]
     where i.indrelid = 'app_public.${name}'::regclass and not i.indisprimary`,
  );
  for (const { column } of indexed.rows) ordered.add(column);
  const found = await owner.query<{ object: string; value: string }>(
    `select object, substring(detail from '^says @filter (\\w+)') as value from audit.findings
     where object ^@ 'app_public.${name}.' and name = 'tag_without_effect' and detail ~ 'cannot compare' and remedy <> ''`,
  );
  for (const { object, value } of found.rows) {
    const column = object.split('.')[2] ?? '';
    findings.add(`${column}${value.slice(camelCase(column).length)}`);
  }
  expect(variants.map((variant) => variant.name)).toEqual(
    expect.arrayContaining([...ordered].filter((one) => one !== 'mark')),
  );
}

/** Columns, computed fields, sets and lists, and null in each. */
async function askForRows(table: TypeTable): Promise<void> {
  const { name, variants } = table;
  const read = variants.map((variant) => `${variant.read(`item.${variant.name}`)} as ${variant.name}`).join(', ');
  const { rows } = await graph.database.owner.query(`select ${read} from app_public.${name} item order by mark`);
  for (const variant of variants) {
    const { name: column, selection, isList } = variant;
    const field = camelCase(column);
    const places = [field, `${field}One`, ...(isList ? [] : [`${field}Set`, `${field}Array`])];
    const query = `{ app { ${camelCase(name)}(first: 100, orderBy: [PRIMARY_KEY_ASC]) { nodes { mark ${places.map((place) => `${place} ${selection}`).join(' ')} } } } }`;
    for (const time of ['planned', 'compiled']) {
      const { body } = await ask(graph, tenant.app, query);
      const data = body.data as { app?: Record<string, { nodes: Record<string, unknown>[] }> } | null;
      const nodes = data?.app?.[camelCase(name)]?.nodes ?? [];
      const errorsAt = (place: string) =>
        body.errors?.filter(({ path }) => !path || path[4] === undefined || path[4] === place);
      for (const place of places) {
        const errors = errorsAt(place);
        const expected = rows.map((row) => {
          const value = row[column] === null ? null : variant.toJson(row[column] as never);
          return place.endsWith('Set') || place.endsWith('Array') ? [value] : value;
        });
        const got = nodes.map((node) => node[place]);
        const at = `${table.type} ${column} ${place} ${time}`;
        judge(at, expected.slice(0, -1), got.slice(0, -1), errors?.length ? errors : undefined);
        judge(`${at} null`, expected.at(-1), got.at(-1));
      }
    }
  }
}

/** Parameters and attributes of input objects, by literals and variables; null in each. */
async function sendValues({ name, variants, type }: TypeTable, schema: GraphQLSchema): Promise<void> {
  for (const { name: column, values, read, toJson } of variants) {
    const { rows } = await graph.database.owner.query<{ read: unknown; text: string }>(
      values.map((value) => `select ${read(value)} as read, (${read(value)})::text as text`).join(' union all '),
    );
    const given: { json: unknown; text: string | null }[] = [
      ...rows.map((row) => ({ json: toJson(row.read as never), text: row.text })),
      { json: null, text: null },
    ];
    for (const place of ['echo', 'given'] as const) {
      const field = camelCase(`${name}_${column}_${place}`);
      const argument = schema.getMutationType()?.getFields()[field]?.args[0];
      if (!argument) throw new Error(`There is no mutation ${field}.`);
      for (const way of ['literal', 'variable', 'number'] as const) {
        const wrapped = given.map(({ json }) => (place === 'given' ? { value: json } : json));
        const values = wrapped.map((value) => literalOf(value, argument.type, way === 'number'));
        if (way === 'number' && values.every((value, n) => value === literalOf(wrapped[n], argument.type))) continue;
        const got: unknown[] = [];
        const errors: unknown[] = [];
        for (let from = 0; from < given.length; from += 10) {
          const part = wrapped.slice(from, from + 10);
          const calls = part.map(
            (_, n) =>
              `r${n}: ${field}(${argument.name}: ${way === 'variable' ? `$v${n}` : values[from + n]}) { result }`,
          );
          const definitions =
            way === 'variable' ? `(${part.map((_, n) => `$v${n}: ${argument.type}`).join(', ')})` : '';
          const variables = way === 'variable' ? Object.fromEntries(part.map((value, n) => [`v${n}`, value])) : {};
          const { body } = await ask(graph, tenant.app, `mutation ${definitions} { ${calls.join(' ')} }`, variables);
          const data = body.data as Record<string, { result: unknown } | null> | undefined;
          got.push(...part.map((_, n) => data?.[`r${n}`]?.result ?? null));
          errors.push(...(body.errors ?? []));
        }
        const at = `${type} ${column} ${place} ${way}`;
        const expected = given.map(({ text }) => text);
        judge(at, expected.slice(0, -1), got.slice(0, -1), errors.length > 0 ? errors : undefined);
        judge(`${at} null`, null, got.at(-1));
      }
    }
  }
}

type Page = { readonly nodes: readonly { readonly mark: number }[]; readonly pageInfo: { readonly endCursor: string } };

/** Filters, by literals and variables, and orders, whose second page begins behind a cursor. */
async function askByArguments(table: TypeTable, schema: GraphQLSchema): Promise<void> {
  const { name, variants, type, ordered, findings, isOrdered } = table;
  const { owner } = graph.database;
  const field = camelCase(name);
  const args = (
    schema.getType('App') as unknown as {
      getFields(): Record<string, { args: { name: string; type: GraphQLInputType }[] }>;
    }
  ).getFields()[field]?.args;
  const marks = async (given: string, definition = '', variables = {}) => {
    const page = given.includes('first:') ? given : `first: 100, ${given}`;
    const query = `query ${definition} { app { ${field}(${page}) { nodes { mark } pageInfo { endCursor } } } }`;
    const { body } = await ask(graph, tenant.app, query, variables);
    const data = body.data as { app?: Record<string, Page> } | null;
    const { nodes = [], pageInfo } = data?.app?.[field] ?? {};
    return { errors: body.errors, marks: nodes.map(({ mark }) => mark), endCursor: pageInfo?.endCursor };
  };
  for (const { name: column, base, values, read, toJson, isList } of variants) {
    const [one = '', two = one] = values;
    const { rows } = await owner.query(`select ${read(one)} as one, ${read(two)} as two`);
    const [jsonOne, jsonTwo] = [toJson(rows[0].one as never), toJson(rows[0].two as never)];
    const filters: Readonly<Record<Operator, readonly [value: unknown, condition: string]>> = {
      Any: [[jsonOne, jsonTwo], `${column}::${base} = any (array[${one}, ${two}]::${base}[])`],
      From: [jsonTwo, `${column}::${base} >= (${two})::${base}`],
      Until: [jsonTwo, `${column}::${base} < (${two})::${base}`],
      Is: [jsonOne, `${column}::${base} = (${one})::${base}`],
      None: [true, `${column} is not distinct from null`],
    };
    for (const [operator, [value, condition]] of Object.entries(filters)) {
      const at = `${type} ${column} filter ${operator}`;
      const asked = `select mark from app_public.${name} where ${condition} order by mark`;
      if (findings.has(`${column}${operator}`)) {
        cells.findings++;
        // The service compares no lists, nor types that are equal by less than their values, such as circles by their areas.
        const isCompared = isOrdered && !isList && type !== 'int2vector';
        const code = isCompared ? await owner.query(asked).catch((error: { code?: string }) => error.code) : '42883';
        judge(`${at} finding`, '42883', code);
        continue;
      }
      const argument = args?.find((each) => each.name === `${camelCase(column)}${operator}`);
      if (!argument) {
        judge(at, 'an argument', undefined);
        continue;
      }
      const expected = await owner.query(asked);
      const inline = await marks(`orderBy: [PRIMARY_KEY_ASC], ${argument.name}: ${literalOf(value, argument.type)}`);
      const varied = await marks(`orderBy: [PRIMARY_KEY_ASC], ${argument.name}: $v`, `($v: ${argument.type})`, {
        v: value,
      });
      judge(
        `${at} literal`,
        expected.rows.map(({ mark }) => mark),
        inline.marks,
        inline.errors,
      );
      judge(
        `${at} variable`,
        expected.rows.map(({ mark }) => mark),
        varied.marks,
        varied.errors,
      );
    }
    for (const direction of ordered.has(column) ? ['ASC', 'DESC'] : []) {
      const ranks = await owner.query<{ mark: number; rank: string }>(
        `select mark, dense_rank() over (order by ${column} is distinct from null, ${column}) as rank from app_public.${name}`,
      );
      const rankOf = new Map(ranks.rows.map(({ mark, rank }) => [mark, Number(rank)]));
      const expected = [...rankOf.values()].toSorted((a, b) => (direction === 'ASC' ? a - b : b - a));
      const order = `orderBy: [${column.toUpperCase()}_${direction}]`;
      const page = await marks(`first: 2, ${order}`);
      const rest = await marks(`after: ${JSON.stringify(page.endCursor)}, ${order}`);
      const got = [...page.marks, ...rest.marks].map((mark) => rankOf.get(mark));
      judge(`${type} ${column} order ${direction}`, expected, got, page.errors ?? rest.errors);
    }
  }
}

/** @param asNumber writes a number that is a string in JSON without quotes */
function literalOf(value: unknown, type?: GraphQLInputType | null, asNumber = false): string {
  const nullable = type && getNullableType(type);
  if (Array.isArray(value)) {
    const item = nullable && isListType(nullable) ? nullable.ofType : undefined;
    return `[${value.map((one) => literalOf(one, item, asNumber)).join(', ')}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const fields = nullable && isInputObjectType(nullable) ? nullable.getFields() : {};
    return `{ ${Object.entries(value)
      .map(([key, inner]) => `${key}: ${literalOf(inner, fields[key]?.type, asNumber)}`)
      .join(', ')} }`;
  }
  if (typeof value === 'string' && nullable && isEnumType(nullable)) return value;
  if (asNumber && typeof value === 'string' && numbers.test(String(nullable)) && /^-?\d+(\.\d+)?$/.test(value))
    return value;
  return JSON.stringify(value);
}

const numbers = /^(BigInt|BigFloat)$/;

test('each type of the catalogue is among those that are asked about, or has no values', async () => {
  const { owner } = graph.database;
  const { rows } = await owner.query<{ name: string; kind: string }>(
    `select typname as name, typtype as kind from pg_type
     where typnamespace = 'pg_catalog'::regnamespace and typtype in ('b', 'r', 'm') and not (typcategory = 'A' and typarray = 0)`,
  );
  const ranges = Object.values(rangesOf);
  const known = new Set([
    ...Object.keys(typeForms),
    ...ranges,
    ...ranges.map((name) => name.replace('range', 'multirange')),
  ]);

  for (const { name } of rows.filter((type) => !known.has(type.name)))
    await expect(owner.query(`select ''::pg_catalog.${name}`)).rejects.toMatchObject({ code: '0A000' });
  expect(rows.length).toBeGreaterThan(70);
});
