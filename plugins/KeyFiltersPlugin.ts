import {
  listOfCodec,
  type PgCodec,
  type PgResource,
  type PgSelectQueryBuilder,
  sqlValueWithCodec,
  type TYPES,
} from 'postgraphile/@dataplan/pg';
import { type FieldArgs, lambda, type Step } from 'postgraphile/grafast';
import { sql } from 'postgraphile/pg-sql2';
import { compositeNamed, inputOf } from './functions/inputOf.ts';
import { selectOf } from './internals.ts';
import { baseOf } from './values.ts';

/**
 * Filters by keys of several columns: `@filter beacons {BeaconInput}` in the comment of a unique constraint.
 * The argument takes a list of input objects, whose fields are the columns of the key without `organization_id`. A column by itself has a
 * filter by ColumnFiltersPlugin. Columns are compared one by one: row-level security lets no comparison of whole rows use an index.
 */
export const KeyFiltersPlugin: GraphileConfig.Plugin = {
  name: 'KeyFiltersPlugin',
  after: ['ConnectionArgumentsPlugin'],

  schema: {
    hooks: {
      GraphQLObjectType_fields_field_args(args, build, { scope }) {
        if (!scope.isPgFieldConnection) return args;
        const { GraphQLList, GraphQLNonNull } = build.graphql;
        return filtersOf(build, scope.pgFieldResource).reduce((others, { argument, type }) => {
          const description = `Only rows with one of these ${argument}, at most 1,000. An empty list matches nothing.`;
          const filter = { type: new GraphQLList(new GraphQLNonNull(type)), description };
          return build.extend(others, { [argument]: filter }, `Adding the filter ${argument} by a key's comment`);
        }, args);
      },

      GraphQLObjectType_fields_field(field, build, { scope }) {
        const { plan } = field;
        const filters = scope.isPgFieldConnection ? filtersOf(build, scope.pgFieldResource) : [];
        if (!plan || filters.length === 0) return field;
        return {
          ...field,
          plan($parent: Step, args: FieldArgs, info) {
            const $connection = plan($parent, args, info);
            for (const { argument, apply } of filters)
              selectOf($connection).apply(lambda(args.getRaw(argument), apply, true));
            return $connection;
          },
        };
      },
    },
  },
};

/** @throws when a comment asks for a filter that cannot be made */
function filtersOf(build: GraphileBuild.Build, resource: PgResource | undefined) {
  return (resource?.uniques ?? []).flatMap(({ attributes, extensions }) =>
    [extensions?.tags?.filter ?? []].flat().map((tag) => {
      const owner = `${resource?.name} (${attributes.join(', ')}): "@filter ${tag}"`;
      const [, argument, typeName] = /^([A-Za-z]\w*) \{(\w+)\}$/.exec(String(tag)) ?? [];
      const composite = typeName && compositeNamed(build, typeName);
      if (!argument || !composite) throw new Error(`${owner} is not an argument and a composite type in braces`);
      const columns = attributes.filter((attribute) => attribute !== 'organization_id');
      const missing = columns.find((column) => !composite.attributes?.[column]);
      if (missing) throw new Error(`${owner} names a type without ${missing}`);
      const { type, read } = inputOf(build, composite, undefined, owner);
      const listCodecs = columns.map((column) =>
        listOfCodec(baseOf(resource?.codec.attributes?.[column]?.codec as PgCodec) as typeof TYPES.text),
      );
      const apply = (values: readonly object[] | null | undefined) => {
        if (values == null) return null;
        // They were checked before the operation was executed.
        const rows = values.map((value) => read(value, argument) as Readonly<Record<string, unknown>>);
        return (query: PgSelectQueryBuilder) => {
          const names = columns.map((column) => sql`${query.alias}.${sql.identifier(column)}`);
          const lists = listCodecs.map((codec, index) =>
            sqlValueWithCodec(rows.map((row) => row[columns[index] ?? ''] ?? null) as never, codec),
          );
          query.where(sql`(${sql.join(names, ', ')}) in (select * from unnest(${sql.join(lists, ', ')}))`);
        };
      };
      return { argument, type, apply: apply as (value: unknown) => ReturnType<typeof apply> };
    }),
  );
}
