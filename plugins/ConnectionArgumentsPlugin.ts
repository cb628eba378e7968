import { listOfCodec, type PgSelectQueryBuilder, sqlValueWithCodec, TYPES } from 'postgraphile/@dataplan/pg';
import { type ConnectionStep, type FieldArgs, lambda, list, type Step } from 'postgraphile/grafast';
import { type SQL, sql } from 'postgraphile/pg-sql2';
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
 * `externalIdentifiers` where the rows have such a column. Lists that are no connections take no arguments.
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
        if (scope.isPgRowSortEnum) delete values.NATURAL;
        return values;
      },

      GraphQLObjectType_fields_field_args(args, build, { scope }) {
        if (scope.isPgFieldSimpleCollection) return {};
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

        const attributes = scope.pgFieldResource?.codec.attributes ?? {};
        const typeName = scope.pgFieldResource && build.inflection.tableType(scope.pgFieldResource.codec);
        return {
          ...field,
          plan($parent: Step, args: FieldArgs, info) {
            const $connection = plan($parent, args, info) as unknown as ConnectionStep<unknown>;
            const $last = args.getRaw('last') as Step<number | null | undefined>;
            $connection.setFirst(
              lambda(
                list([args.getRaw('first'), $last]),
                ([first, last]) => first ?? (last == null ? defaultPageSize : null),
                true,
              ),
            );
            $connection.setLast($last);

            const filter = (
              argument: string,
              toCondition: (values: readonly string[], query: PgSelectQueryBuilder) => SQL,
            ) =>
              selectOf($connection).apply(
                lambda(
                  args.getRaw(argument) as Step<readonly string[] | null | undefined>,
                  (values) => (query: PgSelectQueryBuilder) => {
                    if (values != null) query.where(toCondition(values, query));
                  },
                  true,
                ),
              );
            if (attributes.id) {
              filter(
                'ids',
                (ids, query) =>
                  sql`${query.alias}.id = any (${sqlValueWithCodec(uuidsOf(ids, typeName), listOfCodec(TYPES.uuid))})`,
              );
            }
            if (attributes.external_identifier) {
              filter(
                'externalIdentifiers',
                (values, query) =>
                  sql`${query.alias}.external_identifier = any (${sqlValueWithCodec(values, listOfCodec(TYPES.text))})`,
              );
            }
            return $connection;
          },
        };
      },
    },
  },
};

/** The keys of the rows of this type; another type's id stands for none. */
function uuidsOf(ids: readonly string[], typeName: string | undefined): readonly string[] {
  return ids.flatMap((id) => {
    const [type, uuid] = decodeNodeId(id) ?? [];
    return type === typeName && uuid ? [uuid] : [];
  });
}
