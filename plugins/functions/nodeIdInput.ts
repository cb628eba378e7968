import type { PgCodec, PgCodecWithAttributes } from 'postgraphile/@dataplan/pg';
import { baseOf } from '../baseOf.ts';
import { decodeNodeId, findNodeId, nodeTypes } from '../NodeIdPlugin.ts';
import { refusal } from '../refusal.ts';
import { type Input, InputError, nameOf } from './input.ts';

/**
 * Global ids in place of a table's keys: of a type, or of any type of an interface.
 * A key of several columns is a composite type of these. Null when no type of nodes has this name.
 *
 * @throws when the key is not of the type `codec`
 */
export function nodeIdInput(build: GraphileBuild.Build, codec: PgCodec, typeName: string, owner: string): Input | null {
  const { nodeKeys } = build;
  const types = typesNamed(build, typeName);
  const keys = types[0] === undefined ? undefined : nodeKeys.get(types[0]);
  if (!keys) return null;
  const attributes = Object.entries(codec.attributes ?? {});
  const parts = codec.attributes ? attributes.map(([, attribute]) => attribute.codec as PgCodec) : [codec];
  if (keys.length !== parts.length || !keys.every((key, index) => baseOf(key) === baseOf(parts[index] ?? key))) {
    const columns = keys.map(nameOf).join(' and ');
    throw new Error(`${owner} is ${nameOf(codec)}, and cannot be the id of a ${typeName}, whose key is ${columns}`);
  }
  const read = (id: unknown, path: string) => {
    const [type = '', ...key] = findNodeId(nodeKeys, id) ?? [];
    if (types.includes(type))
      return codec.attributes ? Object.fromEntries(attributes.map(([name], index) => [name, key[index]])) : key[0];
    // `id` selects the row to work on, so an id of another type is one that finds no row.
    if (path === 'id' && decodeNodeId(id)) throw refusal('NOT_FOUND', `There is no such ${wordsOf(typeName)}.`);
    throw new InputError(`${path} is not the id of a ${typeName}.`);
  };
  return { type: build.graphql.GraphQLID, read };
}

const wordsOf = (typeName: string) => typeName.replaceAll(/\B[A-Z]/g, ' $&').toLowerCase();

/** The type of that name, or those of the interface. */
function typesNamed(build: GraphileBuild.Build, typeName: string): readonly string[] {
  if (build.nodeKeys.has(typeName)) return [typeName];
  const codecs = Object.values(build.pgResources).map(({ codec }) => codec);
  const table = codecs.find(
    (codec) =>
      codec.attributes && !codec.isAnonymous && build.inflection.tableType(codec as PgCodecWithAttributes) === typeName,
  );
  return table ? nodeTypes(build, table) : [];
}
