import type { PgCodec, PgCodecRelation, PgCodecWithAttributes, PgResource } from 'postgraphile/@dataplan/pg';
import { nodeTypes } from './NodeIdPlugin.ts';

declare module 'graphql' {
  interface GraphQLSchemaExtensions {
    rowOrigins: () => RowOrigins;
  }
}

/**
 * The origin of a type's objects: the table whose rows they are, by its name in PostgreSQL.
 * Columns of keys are without the tenant, as in a global id.
 */
type RowOrigin = {
  readonly relation: string;
  readonly key: readonly string[];
  /** By field: the column that it shows. */
  readonly columns: ReadonlyMap<string, string>;
  /** By field: the row that a foreign key leads to. */
  readonly references: ReadonlyMap<string, Reference>;
};

type Reference = {
  readonly relation: string;
  /** The columns of the foreign key, each with the column that it refers to. */
  readonly columns: readonly (readonly [local: string, remote: string])[];
};

/** By the name of the type. */
export type RowOrigins = ReadonlyMap<string, RowOrigin>;

/**
 * Data provenance: `schema.extensions.rowOrigins` is a function that says from which table the objects of each type with a global id come.
 * So a tool for developers can ask PostgreSQL about the row behind an object. Without such a tool it costs nothing.
 */
export const RowOriginsPlugin: GraphileConfig.Plugin = {
  name: 'RowOriginsPlugin',
  after: ['NodeIdPlugin'],

  schema: {
    hooks: {
      GraphQLSchema: (schema, build) => ({
        ...schema,
        extensions: Object.assign({}, schema.extensions, {
          rowOrigins: () => rowOriginsOf(build as GraphileBuild.Build),
        }),
      }),
    },
  },
};

function rowOriginsOf(build: GraphileBuild.Build): RowOrigins {
  const tables = Object.values(build.pgResources).filter(({ parameters, codec }) => !parameters && codec.attributes);
  return new Map(
    tables.flatMap((resource) => {
      const types = nodeTypes(build, resource.codec);
      if (types.length === 0) return [];
      const origin = originOf(build, resource.codec as PgCodecWithAttributes, resource);
      return types.map((type) => [type, origin] as const);
    }),
  );
}

function originOf(build: GraphileBuild.Build, codec: PgCodecWithAttributes, { uniques }: PgResource): RowOrigin {
  const { inflection } = build;
  const relations = Object.entries<PgCodecRelation>(build.input.pgRegistry.pgRelations[codec.name] ?? {});
  return {
    relation: relationNameOf(codec),
    key: uniques.find(({ isPrimary }) => isPrimary)?.attributes ?? [],
    columns: new Map(
      Object.keys(codec.attributes).map((attributeName) => [
        inflection.attribute({ codec, attributeName } as never),
        attributeName,
      ]),
    ),
    references: new Map(
      relations
        .filter(([, { isReferencee }]) => !isReferencee)
        .map(([relationName, { localAttributes, remoteAttributes, remoteResource }]) => [
          inflection.singleRelation({ registry: build.input.pgRegistry, codec, relationName } as never),
          {
            relation: relationNameOf((remoteResource as PgResource).codec),
            columns: localAttributes.map((local, index) => [local, remoteAttributes[index] as string] as const),
          },
        ]),
    ),
  };
}

/** As a `regclass` is written. */
function relationNameOf({ extensions }: PgCodec): string {
  const { schemaName, name } = extensions?.pg ?? {};
  return [schemaName, name].map((part) => `"${String(part).replaceAll('"', '""')}"`).join('.');
}
