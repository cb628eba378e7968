import { type GraphQLSchema, isEnumType } from 'graphql';
import type { Pool } from 'pg';
import type { Random } from '../random.ts';
import { keyOfFilter, keyOfOrder, keyOfRow } from './answer.ts';
import { ask, dataOf, type Failure } from './ask.ts';
import type { Connection, Filter } from './checks.ts';
import { quote } from './draw.ts';
import { type FilterOperator, orderNameOf } from './model.ts';
import { ownerOf, Renderer } from './render.ts';
import { literal } from './sql.ts';
import { type Item, isVisible, keyOfKnown, type Source, type State } from './state.ts';
import { typeOf } from './types.ts';

/** The orders and filters with which a source is asked. */
export type Arguments = { readonly orders: readonly (readonly string[])[]; readonly filters: readonly Filter[] };

export const plainConnection = (source: string, orderBy: readonly string[] = []): Connection => ({
  ...{ kind: 'connection', via: { kind: 'app' }, source, page: {}, orderBy, filters: [] },
  ...{ wants: ['totalCount'], selection: [{ kind: 'mark' }, { kind: 'id' }] },
});

/**
 * Reads every order of a source once, as a whole: each must have every row once, sorted as PostgreSQL sorts the values. How ties are
 * broken is the service's to choose; from here on each page, filter and nested connection must agree with it.
 *
 * @returns what is wrong
 */
export async function learnOrders(
  state: State,
  schema: GraphQLSchema,
  source: Source,
  orders: Arguments['orders'],
): Promise<Failure[]> {
  const failures: Failure[] = [];
  const [service] = state.world.services;
  if (!service) throw new Error('There is no service.');
  for (const organization of [0, 1] as const) {
    const who = { organization, scope: 'app' } as const;
    const visible = source.rows.filter((row) => isVisible(source, row, who));
    for (const orderBy of orders) {
      const selection = [plainConnection(source.name, orderBy)];
      const operation = new Renderer(state, schema, true).document([{ kind: 'app', selection }]);
      const fail = (message: string) => failures.push({ message, operation });
      const told = dataOf(await ask(service, state.world, who, operation));
      if ('refused' in told) {
        fail(told.refused);
        continue;
      }
      const { nodes, totalCount } = Object.values(told.data.r0 as object)[0] as Learned;
      const marks = nodes.map(({ mark }) => mark);
      const wrong = judgeOrder(source, visible, orderBy, marks);
      if (wrong) fail(wrong);
      if (totalCount !== visible.length) fail(`totalCount is ${totalCount}, and there are ${visible.length} rows.`);
      state.orders.set(
        keyOfOrder(source.name, orderBy, organization),
        new Map(marks.map((mark, place) => [mark, place])),
      );
      for (const { mark, id } of nodes) {
        const known = keyOfKnown({ source: source.name, organization, mark });
        if ((state.ids.get(known) ?? id) !== id) fail(`A row has two ids: ${id} and ${state.ids.get(known)}`);
        state.ids.set(known, id);
      }
    }
  }
  return failures;
}

type Learned = {
  readonly totalCount: number;
  readonly nodes: readonly { readonly mark: number; readonly id: string }[];
};

function judgeOrder(
  source: Source,
  rows: readonly Item[],
  orderBy: readonly string[],
  marks: readonly number[],
): string | null {
  const sorted = (list: readonly number[]) => JSON.stringify(list.toSorted((one, other) => one - other));
  if (sorted(marks) !== sorted(rows.map(({ mark }) => mark)))
    return `The rows are ${marks}, and should be ${rows.map(({ mark }) => mark)} in some order.`;
  const terms = (orderBy.length > 0 ? orderBy : ['PRIMARY_KEY_ASC']).map((name) => ({
    column: columnOf(source, name.replace(/_(ASC|DESC)$/, '')),
    sign: name.endsWith('_DESC') ? -1 : 1,
  }));
  const placed = marks.map((mark) => rows.find((row) => row.mark === mark));
  for (const [index, row] of placed.entries()) {
    const next = placed[index + 1];
    for (const { column, sign } of next ? terms : []) {
      const difference = sign * ((row?.ranks[column] ?? 0) - (next?.ranks[column] ?? 0));
      if (difference > 0)
        return `${orderBy} has the row with the mark ${row?.mark} before that with ${next?.mark}: ${row?.texts[column]}, ${next?.texts[column]}.`;
      if (difference < 0) break;
    }
  }
  return null;
}

/** The column by which an order sorts, or `PRIMARY_KEY`. */
export const columnOf = (source: Source, order: string): string =>
  source.columns.find(({ name }) => orderNameOf(name) === order)?.name ?? (order === 'MARK' ? 'mark' : order);

export const orderNamesOf = (schema: GraphQLSchema, type: string): string[] => {
  const orders = schema.getType(`${type}OrderBy`);
  return isEnumType(orders) ? orders.getValues().map(({ name }) => name) : [];
};

/** Orders that the guide promises, of each field that a B-tree has, and that the schema lacks; not of one type of an interface alone. */
export function missingOrders(schema: GraphQLSchema, source: Source): string[] {
  const { table, type, isView } = source;
  if (isView) return [];
  const indexed = table.indexes.filter(({ kind }) => kind !== 'nulls').flatMap(({ columns }) => columns);
  // A uuid of the key is no field.
  const isHidden = (column: string) =>
    table.key.includes(column) && table.columns.some(({ name, type }) => name === column && type === 'uuid');
  const shared = indexed.filter((column) => ownerOf(source, column) === undefined && !isHidden(column));
  const promised = shared.flatMap((column) => [`${orderNameOf(column)}_ASC`, `${orderNameOf(column)}_DESC`]);
  const shown = orderNamesOf(schema, type);
  return [...promised, 'PRIMARY_KEY_ASC', 'PRIMARY_KEY_DESC'].filter((name) => !shown.includes(name));
}

export function drawArguments(random: Random, schema: GraphQLSchema, source: Source): Arguments {
  const names = orderNamesOf(schema, source.type);
  const pairs = names.length > 1 ? [1, 2, 3].map(() => random.some(names, 2 + random.below(2))) : [];
  const filters = source.isView
    ? []
    : source.columns.flatMap(({ name, type, filters: tags }) =>
        tags.flatMap(({ argument, operator }) =>
          valuesFor(random, source, name, operator).map((texts) => ({ argument, operator, column: name, type, texts })),
        ),
      );
  return { orders: [[], ...names.map((name) => [name]), ...pairs], filters };
}

/** Values that rows of either organization have, so that most filters find something. */
function valuesFor(random: Random, { rows }: Source, column: string, operator: FilterOperator): string[][] {
  // A null is no filter, also that of JSON.
  const given = rows.filter(({ values }) => (values[column] ?? null) !== null);
  const texts = [...new Set(given.map((row) => row.texts[column] as string))];
  if (operator === 'isNull') return [['true'], ['false']];
  if (texts.length === 0) return operator === 'anyOf' ? [[]] : [];
  if (operator === 'anyOf') return [[], random.some(texts, 1), random.some(texts, 3)];
  if (operator === 'prefix') return [[''], [[...random.pick(texts)].slice(0, 1 + random.below(2)).join('')]];
  return random.some(texts, 2).map((text) => [text]);
}

/** Which rows PostgreSQL finds by each filter. */
export async function readMatches(
  owner: Pool,
  state: State,
  source: Source,
  filters: readonly Filter[],
): Promise<void> {
  if (filters.length === 0) return;
  const conditions = filters.map((filter, index) => `(${conditionOf(filter)}) is true as m${index}`);
  const { rows } = await owner.query(
    `select organization_id, mark, ${conditions.join(', ')} from app_public.${source.table.name}`,
  );
  for (const [index, filter] of filters.entries()) {
    const found = rows.filter((row) => row[`m${index}`]);
    const keys = found.map((row) =>
      keyOfRow({
        organization: row.organization_id === state.world.organizations[0].id ? 0 : 1,
        mark: row.mark,
      } as Item),
    );
    state.matches.set(keyOfFilter(source, filter), new Set(keys));
  }
}

function conditionOf({ column, operator, texts, type }: Filter): string {
  const [text = ''] = texts;
  const sql = typeOf(type).sql.replace(/ collate .*/, '');
  const value = `${literal(text)}::${sql}`;
  switch (operator) {
    case 'anyOf':
      return `${quote(column)} = any (array[${texts.map((one) => `${literal(one)}::${sql}`).join(', ')}]::${sql}[])`;
    case 'from':
      return `${quote(column)} >= ${value}`;
    case 'until':
      return `${quote(column)} < ${value}`;
    case 'is':
      return `${quote(column)} = ${value}`;
    case 'prefix':
      return `starts_with(${quote(column)}, ${literal(text)})`;
    case 'isNull':
      return `(${quote(column)} is null) = ${text}`;
  }
}
