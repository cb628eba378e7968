import type { PgCodec, PgCodecWithAttributes } from 'postgraphile/@dataplan/pg';
import { type GraphQLObjectType, isObjectType } from 'postgraphile/graphql';
import { baseOf } from './baseOf.ts';
import type { FeedChange } from './changeFeed.ts';
import { encodeNodeId } from './NodeIdPlugin.ts';
import { refusal } from './refusal.ts';

/** What tables, rows and columns are called in the graph. */
export type Naming = {
  typeOf(row: Pick<FeedChange, 'relation' | 'type'>): string;
  idOf(row: Pick<FeedChange, 'relation' | 'type' | 'key'>): string;
  /** Every type that rows of a relation may have. */
  typesOf(relation: string): readonly string[];
  fieldsOf(row: Pick<FeedChange, 'relation' | 'type' | 'columns'>): readonly string[];
};

export function createNaming(build: GraphileBuild.Build): Naming {
  const codecs = new Map<string, PgCodec>();
  for (const { codec, parameters } of Object.values(build.pgResources)) {
    const { schemaName, name } = codec.extensions?.pg ?? {};
    if (!parameters && codec.attributes) codecs.set(`${schemaName}.${name}`, codec);
  }
  const fieldsByColumn = new Map<string, ReadonlyMap<string, string>>();

  const codecOf = (relation: string) => {
    const codec = codecs.get(relation);
    // A migration has just made it, or hides it.
    if (!codec) throw refusal('UNAVAILABLE', `The schema does not have ${relation}; try again.`);
    return codec;
  };
  /** Inflection takes longer than all else that is done for a change. */
  const typeNames = new Map<string, string>();
  const typeOf: Naming['typeOf'] = ({ relation, type }) => {
    const key = `${relation} ${type}`;
    const name = typeNames.get(key) ?? typeNameOf(codecOf(relation), type);
    typeNames.set(key, name);
    return name;
  };
  const typeNameOf = (codec: PgCodec, type: string | null) =>
    type === null || codec.polymorphism?.mode !== 'single'
      ? build.inflection.tableType(codec as never)
      : (codec.polymorphism.types[type]?.name ?? type);
  return {
    typeOf,
    typesOf(relation) {
      const { polymorphism } = codecOf(relation);
      const types = polymorphism?.mode === 'single' ? Object.keys(polymorphism.types) : [null];
      return types.map((type) => typeOf({ relation, type }));
    },
    idOf(row) {
      const typeName = typeOf(row);
      const codecs = build.nodeKeys.get(typeName) ?? [];
      return encodeNodeId([typeName, ...row.key.map((text, at) => partOfId(text, codecs[at]))]) ?? '';
    },
    fieldsOf(row) {
      const typeName = typeOf(row);
      const known = fieldsByColumn.get(typeName) ?? fieldNames(build, codecOf(row.relation), typeName);
      fieldsByColumn.set(typeName, known);
      return [...new Set(row.columns.flatMap((column) => known.get(column) ?? []))].sort();
    },
  };
}

/** As the ids of rows have it: times have six digits behind the second, unlike in PostgreSQL's JSON. */
function partOfId(text: string, codec: PgCodec | undefined): unknown {
  if (!codec) return text;
  const isTime = /^time/.test(baseOf(codec).name);
  const padded = (_: string, seconds: string, digits = '') => `${seconds}.${digits.padEnd(6, '0')}`;
  return codec.fromPg(isTime ? text.replace(/(:\d\d:\d\d)(?:\.(\d+))?/, padded) : text);
}

/** By column its field: its own, that of the object it refers to, or the one that it is a part of. */
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
