import type { PgCodec, PgCodecWithAttributes } from 'postgraphile/@dataplan/pg';
import { baseOf } from '../baseOf.ts';
import { findNodeId, nodeTypes } from '../NodeIdPlugin.ts';
import { type Input, InputError, nameOf } from './input.ts';

/**
 * Global ids in the place of a table's keys: of a type, or of any type of an interface.
 * Null when there is no such type of nodes.
 *
 * @throws when the key is not one column of the type `codec`
 */
export function nodeIdInput(build: GraphileBuild.Build, codec: PgCodec, typeName: string, owner: string): Input | null {
  const { nodeKeys } = build;
  const types = typesNamed(build, typeName);
  const keys = types[0] === undefined ? undefined : nodeKeys.get(types[0]);
  if (!keys) return null;
  const [key, ...others] = keys;
  if (!key || others.length > 0 || baseOf(key) !== baseOf(codec)) {
    const columns = keys.map(nameOf).join(' and ');
    throw new Error(`${owner} is ${nameOf(codec)}, and cannot be the id of a ${typeName}, whose key is ${columns}`);
  }
  const read = (id: unknown, path: string) => {
    const [type = '', value] = findNodeId(nodeKeys, id) ?? [];
    if (types.includes(type)) return value;
    throw new InputError(`${path} is not the id of a ${typeName}.`);
  };
  return { type: build.graphql.GraphQLID, read };
}

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
