import type { GraphQLSchema } from 'graphql';
import type { Random } from '../random.ts';
import { select } from './answer.ts';
import type { MutationCheck } from './checks.ts';
import { quote } from './draw.ts';
import { camelCase, fieldNameOf, type Table, typeNameOf } from './model.ts';
import { type Operation, Renderer } from './render.ts';
import { isVisible, type Source, type State } from './state.ts';
import { typeOf } from './types.ts';

// Functions as mutations: a payload has exactly one field, which the kind of the result names.

/** How PostgreSQL writes a parameter: json keeps blanks, jsonb does not. */
const textOf = (name: string, type: Table['columns'][number]['type']) =>
  `coalesce(${quote(name)}${type === 'json' ? '::jsonb' : ''}::text, 'null')`;

/** An echo of a value of each column, the row with a mark, rows with marks, and nothing. */
export function mutationsSql({ name, columns }: Table): string {
  const define = (made: string, signature: string, returned: string, body: string) =>
    `create function app_public.${made}(${signature}) returns ${returned} language sql volatile set search_path = pg_catalog, pg_temp as $$ ${body} $$;
comment on function app_public.${made} is E'@mutation\\nMutation ${made}.';
grant execute on function app_public.${made} to graph_app;`;
  const parameters = columns.map((column) => `${quote(column.name)} ${sqlOf(column)} default null`).join(', ');
  const own = 'i.organization_id = (select app_hidden.current_organization_id())';
  const echoed = columns.map((column) => textOf(column.name, column.type)).join(', ');
  const rows = `app_public.${name}`;
  return [
    define(`${name}_echo`, parameters, 'text', `select concat_ws('|', ${echoed})`),
    define(`${name}_one`, 'wanted int', rows, `select i from ${rows} i where ${own} and i.mark = wanted`),
    define(
      `${name}_many`,
      'wanted int[]',
      `setof ${rows}`,
      `select i.* from ${rows} i where ${own} and i.mark = any (wanted) order by i.mark`,
    ),
    define(`${name}_nothing`, '', 'void', 'select'),
  ].join('\n');
}

const sqlOf = ({ type }: Table['columns'][number]) => typeOf(type).sql.replace(/ collate .*/, '');

/** Echoes values that rows have, and asks for rows that are there, are another organization's or are not there. */
export function drawMutations(
  random: Random,
  source: Source,
  selection: () => MutationCheck['selection'],
): MutationCheck[] {
  const marks = source.rows.filter(({ organization }) => organization === 0).map(({ mark }) => mark);
  const who = { organization: 0, scope: 'app' } as const;
  const check = (shape: MutationCheck['shape'], more: Partial<MutationCheck>): MutationCheck => ({
    ...{ kind: 'mutation', who, table: source.name, shape, marks: [], texts: {}, selection: selection() },
    ...more,
  });
  const echoes = Array.from({ length: 4 }, () => {
    const chosen = random.some(source.columns, 1 + random.below(source.columns.length));
    return check('echo', {
      texts: Object.fromEntries(
        chosen.map((column) => {
          const texts = source.rows.map(({ texts }) => texts[column.name] ?? null);
          return [column.name, random.pick([null, ...texts.filter((text) => text !== null && isGiven(column, text))])];
        }),
      ),
    });
  });
  return [
    ...echoes,
    check('one', { marks: [random.pick([...marks, 999])] }),
    check('many', { marks: random.some([...marks, 999], 3) }),
    check('nothing', {}),
  ];
}

/** Lists of arguments have no nulls and one dimension. */
function isGiven({ type }: Table['columns'][number], text: string): boolean {
  const { isList, toJson } = typeOf(type);
  return !isList || !(text.startsWith('{{') || (toJson(text) as unknown[]).includes(null));
}

export function mutationOf(
  { table, shape, marks, texts, selection }: MutationCheck,
  state: State,
  schema: GraphQLSchema,
): Operation {
  const field = camelCase(`${table}_${shape}`);
  const renderer = new Renderer(state, schema);
  const columns = state.sources.get(table)?.columns ?? [];
  const given = Object.entries(texts).map(([name, text]) => {
    const column = columns.find((one) => one.name === name);
    const value = text === null || !column ? null : typeOf(column.type).toJson(text);
    return `${fieldNameOf(name)}: ${renderer.argument('Mutation', field, fieldNameOf(name), value)}`;
  });
  if (shape === 'one') given.push(`wanted: ${renderer.argument('Mutation', field, 'wanted', marks[0])}`);
  if (shape === 'many') given.push(`wanted: ${renderer.argument('Mutation', field, 'wanted', marks)}`);
  const payload = payloadOf(table, shape);
  const body = shape === 'one' || shape === 'many' ? `${payload} { ${renderer.selection(selection, table)} }` : payload;
  const query = renderer.document(
    [],
    `r0: ${field}${given.length > 0 ? `(${given.join(', ')})` : ''} { ${body} }`,
    'mutation',
  );
  return { query: query.query, variables: renderer.variables };
}

const payloadOf = (table: string, shape: MutationCheck['shape']) =>
  ({
    echo: 'result',
    nothing: 'ok',
    one: camelCase(typeNameOf(table).replace(/^./, (letter) => letter.toLowerCase())),
    many: camelCase(table),
  })[shape];

export function answerMutation({ table, shape, marks, texts, selection, who }: MutationCheck, state: State): unknown {
  const source = state.sources.get(table);
  if (!source) return undefined;
  const rows = source.rows.filter((row) => isVisible(source, row, who) && marks.includes(row.mark));
  const shown = rows
    .toSorted((one, other) => one.mark - other.mark)
    .map((item) => select(selection, { source: table, item, place: item.mark }, who, state));
  const echo = source.columns.map(({ name, type }) => {
    const text = texts[name] ?? null;
    return text === null ? 'null' : type === 'json' ? jsonbText(text) : text;
  });
  const result = { echo: echo.join('|'), nothing: true, one: shown[0] ?? null, many: shown }[shape];
  return { r0: { [payloadOf(table, shape)]: result } };
}

/** jsonb writes a blank behind each comma and colon, and the shorter key first. */
function jsonbText(text: string): string {
  const write = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(write).join(', ')}]`;
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const entries = Object.entries(value).toSorted(
      ([one], [other]) => one.length - other.length || (one < other ? -1 : 1),
    );
    return `{${entries.map(([name, item]) => `${JSON.stringify(name)}: ${write(item)}`).join(', ')}}`;
  };
  return write(JSON.parse(text));
}
