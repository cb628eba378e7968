import type { PgCodec, PgCodecWithAttributes, PgResource } from 'postgraphile/@dataplan/pg';
import { decodeNodeId } from '../NodeIdPlugin.ts';
import { baseOf, type Input, InputError, nameOf } from './input.ts';

/**
 * Global ids in the place of the keys of a table: those of a type, or of any type of an interface. Null when there is no such
 * type of nodes.
 *
 * @throws when the key is not one column of the type `codec`
 */
export function nodeIdInput(build: GraphileBuild.Build, codec: PgCodec, typeName: string, owner: string): Input | null {
  const table = Object.values(build.pgResources)
    .flatMap((resource) => nodeTableOf(build, resource as PgResource) ?? [])
    .find(({ types }) => types.has(typeName));
  if (!table) return null;
  const [key, ...others] = table.key;
  if (!key || others.length > 0 || baseOf(key) !== baseOf(codec)) {
    const types = table.key.map(nameOf).join(' and ');
    throw new Error(`${owner} is ${nameOf(codec)}, and cannot be the id of a ${typeName}, whose key is ${types}`);
  }
  const types = table.types.get(typeName);
  const read = (id: unknown, path: string) => {
    const [type = '', value] = decodeNodeId(id) ?? [];
    if (types?.includes(type)) return value;
    throw new InputError(`${path} is not the id of a ${typeName}.`);
  };
  return { type: build.graphql.GraphQLID, read };
}

type NodeTable = {
  readonly key: readonly PgCodec[];
  /** The types of its rows by their own names; an interface stands for all of them. */
  readonly types: ReadonlyMap<string, readonly string[]>;
};

function nodeTableOf(build: GraphileBuild.Build, { codec, parameters, uniques }: PgResource): NodeTable | null {
  const unique = uniques.find(({ isPrimary }) => isPrimary);
  if (parameters || !unique || !codec.attributes) return null;
  const { attributes, polymorphism } = codec as PgCodecWithAttributes;
  const name = build.inflection.tableType(codec as PgCodecWithAttributes);
  const own = polymorphism?.mode === 'single' ? Object.values(polymorphism.types).map((type) => type.name) : [name];
  if (!own.some((type) => build.getNodeIdHandler?.(type))) return null;
  return {
    key: unique.attributes.map((attribute) => attributes[String(attribute)]?.codec as PgCodec),
    types: new Map<string, readonly string[]>([...own.map((type) => [type, [type]] as const), [name, own]]),
  };
}
