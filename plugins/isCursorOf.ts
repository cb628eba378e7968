import type { PgCodec, PgOrderSpec, PgResource, PgSelectQueryBuilder } from 'postgraphile/@dataplan/pg';
import { type GraphQLField, getNamedType, isEnumType } from 'postgraphile/graphql';
import { type SQL, sql } from 'postgraphile/pg-sql2';
import { digestOfOrder, naturalOrder } from './internals.ts';
import { isValueOf } from './isValueOf.ts';

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
