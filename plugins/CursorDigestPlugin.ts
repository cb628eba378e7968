import { createHash } from 'node:crypto';
import type { PgOrderSpec, PgResource, PgSelectQueryBuilder } from 'postgraphile/@dataplan/pg';
import { type GraphQLField, getNamedType, isEnumType } from 'postgraphile/graphql';
import { type SQL, sql } from 'postgraphile/pg-sql2';

declare global {
  namespace GraphileConfig {
    interface Plugins {
      CursorDigestPlugin: true;
    }
  }
}

/**
 * Notes on each connection which rows it pages through. Each cursor begins with Grafast's digest of an order of these rows;
 * with the note, {@link cursorDigest} knows it before a query is built, and a cursor from elsewhere is refused in time.
 */
export const CursorDigestPlugin: GraphileConfig.Plugin = {
  name: 'CursorDigestPlugin',
  description: 'Notes on each connection which rows it pages through',
  version: '1.0.0',

  schema: {
    hooks: {
      GraphQLObjectType_fields_field: (field, _build, { scope }) =>
        scope.isPgFieldConnection
          ? { ...field, extensions: { ...field.extensions, pagedResource: scope.pgFieldResource } }
          : field,
    },
  },
};

/** What a cursor of this connection begins with in this order: the digest of its SQL as Grafast takes it. */
export function cursorDigest(connection: GraphQLField<unknown, unknown>, orderBy: readonly string[]): string {
  const { name, uniques } = connection.extensions.pagedResource as PgResource;
  const alias = sql.identifier(Symbol(name));
  const column = (attribute: string) => sql`${alias}.${sql.identifier(attribute)}`;
  const orders: SQL[] = [];
  let isTotal = false;
  const query: Query = {
    alias,
    orderBy: (order) => {
      const { fragment, attribute } = order as PgOrderSpec;
      orders.push(fragment ?? column(attribute));
    },
    setOrderIsUnique: () => {
      isTotal = true;
    },
  };

  for (const order of orderBy) applyOf(connection, order)(query);
  const key = uniques.find(({ isPrimary }) => isPrimary)?.attributes ?? [];
  if (!isTotal) orders.push(...key.map((attribute) => column(String(attribute))));

  const texts = orders.map((order) => sql.compile(order).text);
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 10);
}

type Query = Pick<PgSelectQueryBuilder, 'alias' | 'orderBy' | 'setOrderIsUnique'>;

/** What PostGraphile has attached to the value of the enum, such as `NAME_ASC`. */
function applyOf(connection: GraphQLField<unknown, unknown>, order: string): (query: Query) => void {
  const argument = connection.args.find(({ name }) => name === 'orderBy');
  const type = argument && getNamedType(argument.type);
  const apply = isEnumType(type) ? type.getValue(order)?.extensions.grafast?.apply : undefined;
  if (!apply) throw new Error(`${order} is no order of ${connection.name}`);
  return apply as (query: Query) => void;
}
