import { listOfCodec, type PgCodec, type PgResource, type TYPES } from 'postgraphile/@dataplan/pg';
import { bakedInput, type FieldArgs, lambda, type Step } from 'postgraphile/grafast';
import type { GraphQLInputType } from 'postgraphile/graphql';
import { anyOf, type FilterValues } from './ConnectionArgumentsPlugin.ts';
import { selectOf } from './selectOf.ts';

declare global {
  namespace GraphileConfig {
    interface Plugins {
      ColumnFiltersPlugin: true;
    }
  }
}

/**
 * A column whose comment says `@filter names` gives every connection of its table the argument `names`: values, one of which
 * the column of each row has, as `externalIdentifiers` does.
 */
export const ColumnFiltersPlugin: GraphileConfig.Plugin = {
  name: 'ColumnFiltersPlugin',
  description: 'Adds filters to connections by the comments of columns',
  version: '1.0.0',
  after: ['ConnectionArgumentsPlugin'],

  schema: {
    hooks: {
      GraphQLObjectType_fields_field_args(args, build, { scope }) {
        if (!scope.isPgFieldConnection) return args;
        const { GraphQLList, GraphQLNonNull } = build.graphql;
        const added = filtersOf(scope.pgFieldResource).map(({ argument, codec }) => {
          const type = build.getGraphQLTypeByPgCodec(codec, 'input') as GraphQLInputType;
          const words = argument.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
          const description = `Only rows with one of these ${words}, at most 1,000. An empty list matches nothing.`;
          return [argument, { type: new GraphQLList(new GraphQLNonNull(type)), description }];
        });
        return build.extend(args, Object.fromEntries(added), 'Adding filters by the comments of columns');
      },

      GraphQLObjectType_fields_field(field, _build, { scope }) {
        const { plan } = field;
        const filters = scope.isPgFieldConnection ? filtersOf(scope.pgFieldResource) : [];
        if (!plan || filters.length === 0) return field;
        return {
          ...field,
          plan($parent: Step, args: FieldArgs, info) {
            const $connection = plan($parent, args, info);
            for (const { argument, apply } of filters) {
              const $values = bakedInput(args.typeAt(argument), args.getRaw(argument)) as Step<FilterValues>;
              selectOf($connection).apply(lambda($values, apply, true));
            }
            return $connection;
          },
        };
      },
    },
  },
};

function filtersOf(resource: PgResource | undefined) {
  return Object.entries(resource?.codec.attributes ?? {}).flatMap(([attribute, { codec, extensions }]) => {
    const argument = extensions?.tags?.filter;
    if (argument === undefined) return [];
    if (typeof argument !== 'string' || codec.arrayOfCodec) {
      throw new Error(`${resource?.name}.${attribute}: @filter names an argument, and is not for arrays`);
    }
    const listCodec = listOfCodec(codec as typeof TYPES.text);
    return [
      { argument, codec: codec as PgCodec, apply: (values: FilterValues) => anyOf(attribute, values, listCodec) },
    ];
  });
}
