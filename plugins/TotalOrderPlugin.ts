import { type PgCodecWithAttributes, type PgSelectQueryBuilder, TYPES } from 'postgraphile/@dataplan/pg';
import { sql } from 'postgraphile/pg-sql2';

declare global {
  namespace GraphileConfig {
    interface Plugins {
      TotalOrderPlugin: true;
    }
  }
}

/**
 * Orders by a text that may be null as if null were the empty text, and ends the order in the key. PostGraphile takes such a
 * column for free of ties when it is unique, however many nulls it has, and looks for nulls on the wrong side of a cursor:
 * paging to the end would leave rows out.
 */
export const TotalOrderPlugin: GraphileConfig.Plugin = {
  name: 'TotalOrderPlugin',
  description: 'Makes orders by columns that may be null total',
  version: '1.0.0',
  after: ['PgOrderAllAttributesPlugin'],
  before: ['ConnectionArgumentsPlugin'],

  schema: {
    hooks: {
      GraphQLEnumType_values(values, build, { scope }) {
        const codec = scope.pgCodec as PgCodecWithAttributes | undefined;
        if (!scope.isPgRowSortEnum || !codec?.attributes) return values;

        for (const [attributeName, { codec: type, notNull }] of Object.entries(codec.attributes)) {
          if (notNull) continue;
          for (const variant of ['asc', 'desc'] as const) {
            const name = build.inflection.orderByAttributeEnum({ codec, attributeName, variant });
            if (!values[name]) continue;
            if (type !== TYPES.text)
              throw new Error(`${name}: no order by a column that may be null and is not a text`);
            values[name] = {
              description: `Rows without a value come ${variant === 'asc' ? 'first' : 'last'}.`,
              extensions: { grafast: { apply: orderByText(attributeName, variant === 'asc' ? 'ASC' : 'DESC') } },
            };
          }
        }
        return values;
      },
    },
  },
};

function orderByText(attribute: string, direction: 'ASC' | 'DESC') {
  return (query: PgSelectQueryBuilder) => {
    const fragment = sql`coalesce(${query.alias}.${sql.identifier(attribute)}, '')`;
    query.orderBy({ fragment, codec: TYPES.text, direction, nullable: false });
  };
}
