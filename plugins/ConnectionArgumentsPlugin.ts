import {
  listOfCodec,
  type PgCodec,
  type PgSelectQueryBuilder,
  sqlValueWithCodec,
  TYPES,
} from 'postgraphile/@dataplan/pg';
import { type ConnectionStep, type FieldArgs, lambda, list, type Step } from 'postgraphile/grafast';
import { sql } from 'postgraphile/pg-sql2';
import { readerOf } from './functions/functionArguments.ts';
import { decodeNodeId } from './NodeIdPlugin.ts';
import { selectOf } from './selectOf.ts';

declare global {
  namespace GraphileConfig {
    interface Plugins {
      ConnectionArgumentsPlugin: true;
    }
  }
}

/** Rows on a page when neither `first` nor `last` is given. */
export const defaultPageSize = 100;

/**
 * The same arguments on every connection: `first`, `last`, `after`, `before`, `orderBy`, and the filters `ids` and
 * `externalIdentifiers` where the rows have such a column. Lists that are no connections take none but those of their function.
 */
export const ConnectionArgumentsPlugin: GraphileConfig.Plugin = {
  name: 'ConnectionArgumentsPlugin',
  description: 'Gives every connection the same arguments and a page size',
  version: '1.0.0',
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

      GraphQLObjectType_fields_field_args(args, build, { scope }) {
        if (scope.isPgFieldSimpleCollection)
          return Object.fromEntries(Object.entries(args).filter(([, arg]) => readerOf(arg)));
        if (!scope.isPgFieldConnection || !scope.pgFieldResource?.codec.attributes) return args;

        const { GraphQLID, GraphQLList, GraphQLNonNull, GraphQLString } = build.graphql;
        const { attributes } = scope.pgFieldResource.codec;
        const { offset: _offset, first, last, orderBy, ...others } = args;
        return {
          // Their values are put together in the field's plan: one decides about the other.
          first: {
            ...first,
            applyPlan: undefined,
            description: `Only the first \`n\` rows: at most 1,000; ${defaultPageSize} unless \`last\` is given.`,
          },
          last: {
            ...last,
            applyPlan: undefined,
            description: 'Only the last `n` rows: at most 1,000; not together with `first`.',
          },
          ...others,
          ...(orderBy && {
            orderBy: { ...orderBy, description: 'The order of the rows; ties are broken by the key.' },
          }),
          ...(attributes.id && {
            ids: {
              type: new GraphQLList(new GraphQLNonNull(GraphQLID)),
              description: 'Only rows with one of these ids, at most 1,000. An empty list matches nothing.',
            },
          }),
          ...(attributes.external_identifier && {
            externalIdentifiers: {
              type: new GraphQLList(new GraphQLNonNull(GraphQLString)),
              description:
                'Only rows with one of these external identifiers, at most 1,000. An empty list matches nothing.',
            },
          }),
        };
      },

      // Core gives the default order to tables only, not to functions that return their rows.
      GraphQLObjectType_fields_field_args_arg: (arg, _build, { scope }) =>
        scope.isPgFieldConnection && scope.argName === 'orderBy' ? { ...arg, defaultValue: ['PRIMARY_KEY_ASC'] } : arg,

      GraphQLObjectType_fields_field(field, build, { scope }) {
        const { plan } = field;
        if (!scope.isPgFieldConnection || !plan) return field;

        const resource = scope.pgFieldResource;
        const filters = resource
          ? filtersOf(resource.codec.attributes ?? {}, build.inflection.tableType(resource.codec))
          : {};
        return {
          ...field,
          plan($parent: Step, args: FieldArgs, info) {
            const $connection = plan($parent, args, info) as unknown as ConnectionStep<unknown>;
            const $last = args.getRaw('last') as Step<number | null | undefined>;
            $connection.setFirst(lambda(list([args.getRaw('first'), $last]), pageSize, true));
            $connection.setLast($last);
            for (const [argument, filter] of Object.entries(filters)) {
              selectOf($connection).apply(lambda(args.getRaw(argument) as Step<FilterValues>, filter, true));
            }
            return $connection;
          },
        };
      },
    },
  },
};

// Grafast merges steps of the same function and the same arguments, hence no function of a plan's own anywhere below: a
// document of a hundred nested connections is planned twice as fast.

const pageSize = ([first, last]: readonly (number | null | undefined)[]) =>
  first ?? (last == null ? defaultPageSize : null);

export type FilterValues = readonly string[] | null | undefined;
type Filter = (values: FilterValues) => (query: PgSelectQueryBuilder) => void;

function filtersOf(attributes: Readonly<Record<string, unknown>>, typeName: string): Readonly<Record<string, Filter>> {
  return {
    ...(attributes.id !== undefined && {
      ids: (ids) => anyOf('id', ids && uuidsOf(ids, typeName), listOfCodec(TYPES.uuid)),
    }),
    ...(attributes.external_identifier !== undefined && {
      externalIdentifiers: (values) => anyOf('external_identifier', values, listOfCodec(TYPES.text)),
    }),
  };
}

/** Leaves the rows whose attribute has one of the values; null leaves all. */
export function anyOf(attribute: string, values: FilterValues, codec: PgCodec) {
  return (query: PgSelectQueryBuilder) => {
    if (values == null) return;
    query.where(sql`${query.alias}.${sql.identifier(attribute)} = any (${sqlValueWithCodec(values, codec)})`);
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

/** The keys of the rows of this type; another type's id stands for none. */
function uuidsOf(ids: readonly string[], typeName: string): readonly string[] {
  return ids.flatMap((id) => {
    const [type, uuid] = decodeNodeId(id) ?? [];
    return type === typeName && uuid ? [uuid] : [];
  });
}
