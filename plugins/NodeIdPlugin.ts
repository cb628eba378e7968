import {
  isEnumCodec,
  type PgCodec,
  type PgCodecRelation,
  type PgCodecWithAttributes,
  type PgResource,
  TYPES,
} from 'postgraphile/@dataplan/pg';
import { baseOf, isUuid, isValueOf } from './values.ts';

declare global {
  namespace GraphileBuild {
    interface Build {
      nodeKeys: NodeKeys;
    }
  }
}

declare module 'graphql' {
  interface GraphQLSchemaExtensions {
    nodeKeys: NodeKeys;
  }
}

/** The name of a type, and the key of a row. */
type NodeId = readonly [type: string, ...key: unknown[]];

/** The types of the columns of each type's key, without the tenant. */
export type NodeKeys = ReadonlyMap<string, readonly PgCodec[]>;

/**
 * Global object identification (Relay): opaque ids of any table with a primary key.
 * An id is base64url of `<type>:<uuid>`, or of `<type>:<key as JSON>` where the key is not one uuid. Only an id that the service itself
 * could have issued decodes, so that a tampered id never reaches a statement.
 */
export const NodeIdPlugin: GraphileConfig.Plugin = {
  name: 'NodeIdPlugin',
  after: ['PgBasicsPlugin'],

  inflection: {
    add: {
      // This belongs to NodeAccessorPlugin, which is disabled. simplify-inflection replaces it, and complains when it is absent.
      nodeById(_options, typeName) {
        return this.camelCase(typeName);
      },
    },
  },

  schema: {
    entityBehavior: {
      pgCodec: {
        override: (behavior, codec, build) =>
          isIdentifiable(build.pgTableResource(codec as PgCodecWithAttributes, false))
            ? behavior
            : [behavior, '-type:node'],
      },
      pgCodecAttribute: {
        override: (behavior, [codec, name], build) =>
          isNaturalKey(codec, name, build) && !codec.attributes[name]?.extensions?.tags?.behavior
            ? [behavior, 'select', 'base', 'orderBy']
            : behavior,
      },
    },
    hooks: {
      build: (build) => build.extend(build, { nodeKeys: nodeKeysOf(build as GraphileBuild.Build) }, 'NodeIdPlugin'),

      init(_, build) {
        const decode = (id: unknown) => findNodeId(build.nodeKeys, id);
        decode.isSyncAndSafe = true;
        build.registerNodeIdCodec?.({ name: nodeIdCodecName, encode: encodeNodeId, decode });
        return _;
      },

      GraphQLSchema: (schema, { nodeKeys }) => ({
        ...schema,
        extensions: Object.assign({}, schema.extensions, { nodeKeys }),
      }),
    },
  },
};

export const nodeIdCodecName = 'typeAndKey';

/** `[type, …key]` to a global id. */
export function encodeNodeId(value: readonly unknown[] | null): string | null {
  if (value === null) return null;
  const [type, first] = value;
  if (value.length === 2 && isUuid(first)) {
    return toBase64url(`${type}:${first}`);
  }
  return Buffer.from(`${type}:${JSON.stringify(value.slice(1))}`).toString('base64url');
}
encodeNodeId.isSyncAndSafe = true;
/** For compilation, which then writes the id of a UUID where it stands. */
encodeNodeId.encodesNodeId = true;

/** A global id to `[type, …key]`, or null when no service can have issued it. */
export function decodeNodeId(id: unknown): NodeId | null {
  if (typeof id !== 'string' || id.length > maxIdLength) return null;
  const text = Buffer.from(id, 'base64url').toString();
  const uuid = text.slice(-36);
  if (isUuid(uuid) && /^\w+:$/.test(text.slice(0, -36)))
    return toBase64url(text) === id ? [text.slice(0, -37), uuid] : null;
  const [, type, key] = /^(\w+):(.+)$/s.exec(text) ?? [];
  if (type === undefined || key === undefined) return null;
  const values = isUuid(key) ? [key] : parseKey(key);
  return values && encodeNodeId([type, ...values]) === id ? [type, ...values] : null;
}

/** Decodes a global id, or gives null if it is of none of these types or its key has another form. */
export function findNodeId(nodeKeys: NodeKeys, id: unknown): NodeId | null {
  const nodeId = decodeNodeId(id);
  return nodeId && nodeKeys.has(nodeId[0]) && fits(nodeKeys, nodeId) ? nodeId : null;
}

/** Whether the service can have issued all of the ids, perhaps for types that no longer exist. */
export const areNodeIds = (nodeKeys: NodeKeys, ids: readonly unknown[]): boolean =>
  decodeNodeIds(ids).every((nodeId) => nodeId !== null && fits(nodeKeys, nodeId));

/** Decodes a list of ids, memoized: they are checked before the operation is executed, and then filter. */
export function decodeNodeIds(ids: readonly unknown[]): readonly (NodeId | null)[] {
  const known = decodedIds.get(ids);
  if (known) return known;
  const decoded = ids.map(decodeNodeId);
  decodedIds.set(ids, decoded);
  return decoded;
}

const decodedIds = new WeakMap<readonly unknown[], readonly (NodeId | null)[]>();

function fits(nodeKeys: NodeKeys, [type, ...key]: NodeId): boolean {
  const codecs = nodeKeys.get(type);
  return !codecs || (codecs.length === key.length && codecs.every((codec, index) => isValueOf(codec, key[index])));
}

/** A key in an index of PostgreSQL has at most 2,704 bytes. */
const maxIdLength = 10_000;

function parseKey(text: string): readonly unknown[] | null {
  try {
    const key: unknown = JSON.parse(text);
    return Array.isArray(key) && key.every((part) => typeof part !== 'object') ? key : null;
  } catch {
    return null;
  }
}

function nodeKeysOf(build: GraphileBuild.Build): NodeKeys {
  const tables = Object.values(build.pgResources).filter(
    (resource) => !resource.parameters && isIdentifiable(resource),
  );
  return new Map(
    tables.flatMap((resource) =>
      typeNames(build, resource.codec).map((name) => [name, keyCodecs(resource) ?? []] as const),
    ),
  );
}

/** The types of a table's rows in the graph: one type, or one for each kind of row. */
function typeNames(build: GraphileBuild.Build, codec: PgCodec): readonly string[] {
  if (codec.polymorphism?.mode !== 'single') return [build.inflection.tableType(codec as never)];
  return Object.values(codec.polymorphism.types).map(({ name }) => name);
}

/** The types of a table's rows that have a global id. */
export const nodeTypes = (build: GraphileBuild.Build, codec: PgCodec): readonly string[] =>
  typeNames(build, codec).filter((name) => build.nodeKeys.has(name));

/** Whether a column of the key has a value that neither the id nor a referenced object shows. */
function isNaturalKey(codec: PgCodecWithAttributes, attribute: string, build: GraphileBuild.Build): boolean {
  const resource = build.pgTableResource(codec, false);
  if (!resource || !primaryKeyOf(resource)?.attributes.includes(attribute)) return false;
  if (!isIdentifiable(resource)) return true;
  const relations = Object.values<PgCodecRelation>(resource.getRelations() as never);
  const refers = relations.some(
    ({ isReferencee, localAttributes }) => !isReferencee && localAttributes.includes(attribute),
  );
  return !refers && attribute !== 'id' && codec.attributes[attribute]?.codec !== TYPES.uuid;
}

const primaryKeyOf = ({ uniques }: PgResource) => uniques.find(({ isPrimary }) => isPrimary);

/** Null without a primary key. */
function keyCodecs(resource: PgResource): readonly PgCodec[] | null {
  const { attributes } = resource.codec;
  return primaryKeyOf(resource)?.attributes.map((name) => attributes?.[name]?.codec as PgCodec) ?? null;
}

/** Whether the key survives a round trip through JSON. */
function isIdentifiable(resource: PgResource | null): boolean {
  return resource ? (keyCodecs(resource)?.every(isPlain) ?? false) : true;
}

/** Whether values are a text, a number or a boolean in JavaScript, too. */
function isPlain(codec: PgCodec): boolean {
  const base = baseOf(codec);
  return isEnumCodec(base) || (base.hasNaturalOrdering === true && base.name !== TYPES.interval.name);
}

/**
 * Base64url of letters, digits and `.:_-`, faster than by a Buffer.
 * Their base64 never has `+` or `/`, only `=` at the end.
 */
export const toBase64url = (text: string): string => btoa(text).slice(0, Math.ceil((text.length * 4) / 3));
