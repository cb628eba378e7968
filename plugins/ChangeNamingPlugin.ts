import type { PgCodec, PgCodecRelation, PgCodecWithAttributes, PgResource } from 'postgraphile/@dataplan/pg';
import { type GraphQLObjectType, isObjectType } from 'postgraphile/graphql';
import type { FeedChange } from './changeFeed.ts';
import { encodeNodeId } from './NodeIdPlugin.ts';
import { refusal } from './refusal.ts';
import { baseOf } from './values.ts';

declare global {
  namespace GraphileBuild {
    interface Build {
      changeNaming: Naming;
    }
  }
}

declare module 'graphql' {
  interface GraphQLSchemaExtensions {
    changeNaming: Naming;
  }
}

/**
 * Names of changes in the graph: `build.changeNaming` and `schema.extensions.changeNaming`.
 * They are made once for a schema, for pages, for streams of changes, and for webhooks.
 */
export const ChangeNamingPlugin: GraphileConfig.Plugin = {
  name: 'ChangeNamingPlugin',
  after: ['NodeIdPlugin'],

  schema: {
    hooks: {
      build: (build) =>
        build.extend(build, { changeNaming: createNaming(build as GraphileBuild.Build) }, 'ChangeNamingPlugin'),

      GraphQLSchema: (schema, { changeNaming }) => ({
        ...schema,
        extensions: Object.assign({}, schema.extensions, { changeNaming }),
      }),
    },
  },
};

/** Names of tables, rows and columns in the graph. */
export type Naming = {
  typeOf(row: Pick<FeedChange, 'relation' | 'type'>): string;
  /** The types that are followed, which the enum FollowedType has, each with what its rows are in the feed. */
  readonly followedTypes: ReadonlyMap<string, Pick<FeedChange, 'relation' | 'type'>>;
  /** The row as an object, and the fields of its columns. */
  describe(row: Pick<FeedChange, 'relation' | 'type' | 'key' | 'columns' | 'related'>): Described;
};

type Described = {
  readonly typeName: string;
  readonly id: string;
  readonly fields: readonly string[];
  readonly relatedIds: readonly string[];
};

function createNaming(build: GraphileBuild.Build): Naming {
  const codecs = new Map<string, PgCodec>();
  for (const { codec, parameters } of Object.values(build.pgResources)) {
    const { schemaName, name } = codec.extensions?.pg ?? {};
    if (!parameters && codec.attributes) codecs.set(`${schemaName}.${name}`, codec);
  }
  const codecOf = (relation: string) => {
    const codec = codecs.get(relation);
    // A migration has just made the table, has it followed, or hides it.
    if (!codec || !build.input.followedRelations.includes(relation))
      throw refusal('UNAVAILABLE', `The schema does not have ${relation}; try again.`);
    return codec;
  };
  const followed = build.input.followedRelations.flatMap((relation) => {
    const codec = codecs.get(relation);
    if (!codec) return [];
    const { polymorphism } = codec;
    const types = polymorphism?.mode === 'single' ? Object.keys(polymorphism.types) : [null];
    return types.map((type) => [typeNameOf(build, codec, type), { relation, type }] as const);
  });

  /** By relation and type. Inflection takes longer than all other work for a change, so names are kept. */
  const known = new Map<string, Map<string | null, Named>>();
  const named = ({ relation, type }: Pick<FeedChange, 'relation' | 'type'>): Named => {
    const found = known.get(relation)?.get(type);
    if (found) return found;
    const name = namedType(build, codecOf(relation), type);
    known.set(relation, new Map(known.get(relation)).set(type, name));
    return name;
  };
  return {
    typeOf: (row) => named(row).typeName,
    followedTypes: new Map(followed.sort(([one], [other]) => (one < other ? -1 : 1))),
    describe(row) {
      const { typeName, keyCodecs, fields, references } = named(row);
      const id = encodeNodeId([typeName, ...row.key.map((text, at) => partOfId(text, keyCodecs[at]))]) ?? '';
      const changed = [...new Set(row.columns.flatMap((column) => fields.get(column) ?? []))].sort();
      const { related } = row;
      const relatedIds = related ? references.flatMap((idOf) => idOf(related) ?? []) : [];
      return { typeName, id, fields: changed, relatedIds: [...new Set(relatedIds)] };
    },
  };
}

type Named = {
  readonly typeName: string;
  readonly keyCodecs: readonly PgCodec[];
  /** By column. */
  readonly fields: ReadonlyMap<string, string>;
  /** For each foreign key, the id of what its columns refer to; null when they refer to nothing. */
  readonly references: readonly ((related: Related) => string | null)[];
};

type Related = NonNullable<FeedChange['related']>;

function typeNameOf({ inflection }: GraphileBuild.Build, codec: PgCodec, type: string | null): string {
  const { polymorphism } = codec;
  if (type === null || polymorphism?.mode !== 'single') return inflection.tableType(codec as never);
  return polymorphism.types[type]?.name ?? type;
}

function namedType(build: GraphileBuild.Build, codec: PgCodec, type: string | null): Named {
  const typeName = typeNameOf(build, codec, type);
  return {
    typeName,
    keyCodecs: build.nodeKeys.get(typeName) ?? [],
    fields: fieldNames(build, codec, typeName),
    references: referencesOf(build, codec),
  };
}

/** A value in the form that ids have: six digits behind the second, unlike PostgreSQL's JSON. */
function partOfId(text: string, codec: PgCodec | undefined): unknown {
  if (!codec) return text;
  const isTime = /^time/.test(baseOf(codec).name);
  const padded = (_: string, seconds: string, digits = '') => `${seconds}.${digits.padEnd(6, '0')}`;
  return codec.fromPg(isTime ? text.replace(/(:\d\d:\d\d)(?:\.(\d+))?/, padded) : text);
}

/** The field of each column: its own, that of the referenced object, or the one that it is a part of. */
function fieldNames(build: GraphileBuild.Build, codec: PgCodec, typeName: string): ReadonlyMap<string, string> {
  const type = build.getTypeByName(typeName);
  const shown = isObjectType(type) ? (type as GraphQLObjectType).getFields() : {};
  const relations = Object.entries(build.input.pgRegistry.pgRelations[codec.name] ?? {}).filter(
    ([, { isReferencee }]) => !isReferencee,
  );
  const names = Object.entries((codec as PgCodecWithAttributes).attributes).flatMap(([attributeName, attribute]) => {
    const referring = relations.filter(([, { localAttributes }]) => localAttributes.includes(attributeName));
    const candidates = [
      attribute.extensions?.tags?.partOf as string | undefined,
      build.inflection.attribute({ codec, attributeName } as never),
      ...referring.map(([relationName]) =>
        build.inflection.singleRelation({ registry: build.input.pgRegistry, codec, relationName } as never),
      ),
    ];
    const name = candidates.find((candidate) => candidate !== undefined && candidate in shown);
    return name === undefined || name === 'id' ? [] : [[attributeName, name] as const];
  });
  return new Map(names);
}

/** Foreign keys to types with ids. The type of a row of several types is in the column that `@relatedType` names. */
function referencesOf(build: GraphileBuild.Build, codec: PgCodec): Named['references'] {
  const relations = Object.values<PgCodecRelation>(build.input.pgRegistry.pgRelations[codec.name] ?? {});
  return relations.flatMap(({ isReferencee, localAttributes, remoteAttributes, remoteResource, extensions }) => {
    const { uniques } = remoteResource as PgResource;
    const key = uniques.find(({ isPrimary }) => isPrimary)?.attributes ?? [];
    const columns = key
      .filter((attribute) => attribute !== 'organization_id')
      .map((attribute): string | undefined => localAttributes[remoteAttributes.indexOf(attribute)]);
    if (isReferencee || columns.length === 0 || columns.includes(undefined)) return [];
    const typeColumn = extensions?.tags?.relatedType as string | undefined;
    return [
      (related: Related) => {
        const typeName = typeNameOf(
          build,
          remoteResource.codec as PgCodec,
          (typeColumn && related[typeColumn]) || null,
        );
        const codecs = build.nodeKeys.get(typeName);
        const values: (string | null)[] = columns.map((column) => related[column as string] ?? null);
        if (!codecs || values.includes(null)) return null;
        return encodeNodeId([typeName, ...values.map((text, at) => partOfId(text as string, codecs[at]))]);
      },
    ];
  });
}
