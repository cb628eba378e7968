import {
  listOfCodec,
  type PgCodec,
  type PgCodecWithAttributes,
  type PgOrderSpec,
  type PgResource,
  type PgSelectQueryBuilder,
  sqlValueWithCodec,
  type TYPES,
} from 'postgraphile/@dataplan/pg';
import { type ConnectionStep, constant, type FieldArgs, lambda, list, type Step } from 'postgraphile/grafast';
import { type GraphQLField, type GraphQLFieldConfigArgumentMap, getNamedType, isEnumType } from 'postgraphile/graphql';
import { type SQL, sql } from 'postgraphile/pg-sql2';
import { readerOf } from './functions/FunctionArgumentsPlugin.ts';
import { digestOfOrder, naturalOrder, selectOf } from './internals.ts';
import { decodeNodeIds, nodeTypes } from './NodeIdPlugin.ts';
import { isValueOf } from './values.ts';

/** Rows on a page when neither `first` nor `last` is given. */
export const defaultPageSize = 100;

/**
 * The arguments of each connection (Relay): `first`, `last`, `after`, `before`, `orderBy`, filters.
 * This plugin adds the filter `ids`; ColumnFiltersPlugin adds the filters by columns. Other lists have only their function's arguments.
 */
export const ConnectionArgumentsPlugin: GraphileConfig.Plugin = {
  name: 'ConnectionArgumentsPlugin',
  after: [
    'PgFirstLastBeforeAfterArgsPlugin',
    'PgConnectionArgOrderByPlugin',
    'PgConnectionArgOrderByDefaultValuePlugin',
  ],

  schema: {
    hooks: {
      GraphQLEnumType_values(values, _build, { scope }) {
        if (!scope.isPgRowSortEnum) return values;
        const { NATURAL: _natural, ...orders } = values;
        return Object.fromEntries(
          Object.entries(orders).map(([name, order]) => {
            const description = [describeOrder(name), order.description].filter(Boolean).join(' ');
            return [name, { ...order, description }];
          }),
        );
      },

      GraphQLObjectType_fields_field_args: argumentsOfLists,
      GraphQLInterfaceType_fields_field_args: argumentsOfLists,

      // Core gives the default order to tables only, not to functions that return their rows.
      GraphQLObjectType_fields_field_args_arg(arg, build, { scope }) {
        if (!scope.isPgFieldConnection || scope.argName !== 'orderBy') return arg;
        const hasKey = scope.pgFieldResource && keyOf(build, scope.pgFieldResource);
        return { ...arg, defaultValue: hasKey ? ['PRIMARY_KEY_ASC'] : undefined };
      },

      GraphQLObjectType_fields_field(field, build, { scope }) {
        const { plan } = field;
        if (!scope.isPgFieldConnection || !plan) return field;

        const withIds = scope.pgFieldResource && idsFilter(build, scope.pgFieldResource);
        const isOrdered = scope.pgFieldResource && hasUnique(build, scope.pgFieldResource);
        return {
          ...field,
          // isCursorOf reads which rows the field pages through.
          extensions: { ...field.extensions, pagedResource: scope.pgFieldResource },
          plan($parent: Step, args: FieldArgs, info) {
            const $connection = plan($parent, args, info) as unknown as ConnectionStep<unknown>;
            const $last = (isOrdered ? args.getRaw('last') : constant(null)) as Step<number | null | undefined>;
            $connection.setFirst(lambda(list([args.getRaw('first'), $last]), pageSize, true));
            $connection.setLast($last);
            if (withIds) selectOf($connection).apply(lambda(args.getRaw('ids') as Step<Ids>, withIds, true));
            return $connection;
          },
        };
      },
    },
  },
};

/** An interface gets the same arguments as the types that implement it. */
function argumentsOfLists(
  args: GraphQLFieldConfigArgumentMap,
  build: GraphileBuild.Build,
  { scope }: GraphileBuild.ContextObjectFieldsFieldArgs | GraphileBuild.ContextInterfaceFieldsFieldArgs,
) {
  if (scope.isPgFieldSimpleCollection)
    return Object.fromEntries(Object.entries(args).filter(([, arg]) => readerOf(arg)));
  if (!scope.isPgFieldConnection || !scope.pgFieldResource?.codec.attributes) return args;

  const { GraphQLID, GraphQLList, GraphQLNonNull } = build.graphql;
  const hasIds = nodeTypes(build, scope.pgFieldResource.codec).length > 0;
  const { offset: _offset, first, last, orderBy, ...others } = args;
  const { before: _before, ...forwards } = others;
  const isOrdered = hasUnique(build, scope.pgFieldResource);
  return {
    // The field's plan reads `first` and `last` together: one decides about the other.
    first: {
      ...first,
      applyPlan: undefined,
      description: `Only the first \`n\` rows: at most 1,000; ${defaultPageSize} unless \`last\` is given.`,
    },
    // Rows without a unique key have no order that could be read from its end.
    ...(isOrdered && {
      last: {
        ...last,
        applyPlan: undefined,
        description: 'Only the last `n` rows: at most 1,000; not together with `first`.',
      },
    }),
    ...(isOrdered ? others : forwards),
    ...(orderBy && {
      orderBy: { ...orderBy, description: 'The order of the rows; ties are broken by the key.' },
    }),
    ...(hasIds && {
      ids: {
        type: new GraphQLList(new GraphQLNonNull(GraphQLID)),
        description: 'Only rows with one of these ids, at most 1,000. An empty list matches nothing.',
      },
    }),
  } as object as typeof args;
}

// Grafast merges steps of the same function and the same arguments. So no plan below makes a function of its own: a document of a hundred
// nested connections is planned twice as fast.

const pageSize = ([first, last]: readonly (number | null | undefined)[]) =>
  first ?? (last == null ? defaultPageSize : null);

/** The unique keys of the rows' table. */
const uniquesOf = (build: GraphileBuild.Build, { codec }: PgResource) =>
  build.pgTableResource(codec as PgCodecWithAttributes, false)?.uniques ?? [];

const hasUnique = (build: GraphileBuild.Build, resource: PgResource) => uniquesOf(build, resource).length > 0;

const keyOf = (build: GraphileBuild.Build, resource: PgResource) =>
  uniquesOf(build, resource).find(({ isPrimary }) => isPrimary);

type Ids = readonly string[] | null | undefined;

/** Keeps the rows with one of the ids; an id of another type matches no row. Null without ids. */
function idsFilter(build: GraphileBuild.Build, resource: PgResource) {
  const { codec } = resource;
  const types = nodeTypes(build, codec);
  const key = keyOf(build, resource)?.attributes;
  if (!key || types.length === 0) return null;
  // A card's id also names its type, and finds no card of another type.
  const { polymorphism } = codec;
  const ofType = polymorphism?.mode === 'single' ? polymorphism : null;
  const values = new Map(Object.entries(ofType?.types ?? {}).map(([value, { name }]) => [name, value]));
  const attributes = ofType ? [...key, ...ofType.typeAttributes] : key;
  const listCodecs = attributes.map((name) => listOfCodec(codec.attributes?.[name]?.codec as typeof TYPES.text));
  return (ids: Ids) => (query: PgSelectQueryBuilder) => {
    if (ids == null) return;
    // The ids were checked before the operation was executed.
    const rows = decodeNodeIds(ids).flatMap((id) => {
      if (!id || !types.includes(id[0])) return [];
      const [type, ...ofKey] = id;
      return [[...ofKey, ...(ofType ? [values.get(type)] : [])] as string[]];
    });
    const columns = attributes.map((name) => sql`${query.alias}.${sql.identifier(name)}`);
    const lists = listCodecs.map((list, index) =>
      sqlValueWithCodec(
        rows.map((row) => row[index] ?? null),
        list,
      ),
    );
    if (columns.length === 1) query.where(sql`${columns[0] as SQL} = any (${lists[0] as SQL})`);
    else if (columns.length > 1)
      query.where(sql`(${sql.join(columns, ', ')}) in (select * from unnest(${sql.join(lists, ', ')}))`);
    // A table whose key is only the tenant's column has one row and one key.
    else if (rows.length === 0) query.where(sql`false`);
  };
}

/** `FULL_NAME_DESC` in words. */
function describeOrder(name: string): string {
  const [, attribute = '', direction] = /^(.+)_(ASC|DESC)$/.exec(name) ?? [];
  if (attribute === 'PRIMARY_KEY')
    return direction === 'ASC' ? 'In the order of creation; the default.' : 'Latest first.';
  const words = attribute.toLowerCase().replaceAll('_', ' ');
  return `By ${words}, ${direction === 'ASC' ? 'ascending' : 'descending'}; equal ones by their keys.`;
}

/**
 * Cursor validation: whether the service can have issued a cursor for this connection in this order.
 * A cursor has Grafast's digest of the order's SQL, then the row's values. So a foreign cursor is refused before a query is built. A
 * forged one that passes is at worst another position among the caller's own rows.
 */
export function isCursorOf(
  connection: GraphQLField<unknown, unknown>,
  orderBy: readonly string[],
  [digest, ...values]: readonly unknown[],
): boolean {
  const orders = ordersOf(connection, orderBy);
  // Rows without a key are numbered.
  if (orders.length === 0)
    return digest === naturalOrder && values.length === 1 && Number.isSafeInteger(values[0]) && Number(values[0]) > 0;
  const expected = digestOfOrder(orders.map(({ fragment }) => fragment));
  const fits = ({ codec, isNullable }: Order, index: number) =>
    isValueOf(codec, values[index]) || (isNullable && values[index] === null);
  return digest === expected && values.length === orders.length && orders.every(fits);
}

type Order = { readonly fragment: SQL; readonly codec: PgCodec; readonly isNullable: boolean };

/** The order of a connection's rows, the key included. */
function ordersOf(connection: GraphQLField<unknown, unknown>, orderBy: readonly string[]): readonly Order[] {
  const { name, codec, uniques } = connection.extensions.pagedResource as PgResource;
  const alias = sql.identifier(Symbol(name));
  const column = (attribute: string): Order => {
    const { codec: type, notNull } = codec.attributes?.[attribute] ?? {};
    if (!type) throw new Error(`${name} has no column ${attribute}`);
    return { fragment: sql`${alias}.${sql.identifier(attribute)}`, codec: type, isNullable: notNull !== true };
  };
  const orders: Order[] = [];
  let isTotal = false;
  const query: Query = {
    alias,
    orderBy: (order) => {
      const { fragment, codec, nullable, attribute } = order as PgOrderSpec;
      orders.push(fragment && codec ? { fragment, codec, isNullable: nullable === true } : column(String(attribute)));
    },
    setOrderIsUnique: () => {
      isTotal = true;
    },
  };

  for (const order of orderBy) applyOf(connection, order)(query);
  // PostGraphile ends an order without a key by the first key, which is the primary one.
  const key = uniques[0]?.attributes ?? [];
  return isTotal ? orders : [...orders, ...key.map((attribute) => column(String(attribute)))];
}

type Query = Pick<PgSelectQueryBuilder, 'alias' | 'orderBy' | 'setOrderIsUnique'>;

/** PostGraphile's extension of the enum's value, such as `NAME_ASC`. */
function applyOf(connection: GraphQLField<unknown, unknown>, order: string): (query: Query) => void {
  const argument = connection.args.find(({ name }) => name === 'orderBy');
  const type = argument && getNamedType(argument.type);
  const apply = isEnumType(type) ? type.getValue(order)?.extensions.grafast?.apply : undefined;
  if (!apply) throw new Error(`${order} is no order of ${connection.name}`);
  return apply as (query: Query) => void;
}
