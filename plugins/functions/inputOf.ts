import { type PgCodec, type PgCodecWithAttributes, type PgResource, TYPES } from 'postgraphile/@dataplan/pg';
import { type GraphQLInputType, GraphQLList, GraphQLNonNull } from 'postgraphile/graphql';
import { decodeNodeId, findNodeId, nodeTypes } from '../NodeIdPlugin.ts';
import { refusal } from '../refusal.ts';
import { baseOf, unusableIn } from '../values.ts';

/** How many items a list may have: as many as a filter may have values. */
const maxItems = 1000;

/**
 * The input by which clients give a value of a type.
 *
 * @param typeName stands in braces in a comment: the type whose ids these are, or the composite type of a `jsonb`
 * @param owner names the parameter or attribute in an error
 * @throws when GraphQL cannot have such a value
 */
export function inputOf(
  build: GraphileBuild.Build,
  codec: PgCodec,
  typeName: string | undefined,
  owner: string,
): Input {
  const item = codec.arrayOfCodec;
  if (item) {
    if (item.arrayOfCodec) throw new Error(`${owner} is a list of lists; let a composite type have the inner one`);
    const { type, read } = inputOf(build, item, typeName, owner);
    return { type: new GraphQLList(new GraphQLNonNull(type)), read: readList(read) };
  }
  if (typeName !== undefined) return namedInput(build, codec, typeName, owner);
  const row = rowTypeOf(codec);
  const type = build.getGraphQLTypeByPgCodec(row, 'input') as Input['type'] | null;
  if (!type) throw new Error(`${owner} is of a type that GraphQL does not have: ${nameInSql(codec)}`);
  return { type, read: row.attributes ? readObject(build, row) : readText };
}

/** Whether a type is no row of a table or view. */
export const isComposite = ({ attributes, extensions, isAnonymous }: PgCodec) =>
  attributes !== undefined && (isAnonymous === true || extensions?.isTableLike === false);

function namedInput(build: GraphileBuild.Build, codec: PgCodec, typeName: string, owner: string): Input {
  const ids = nodeIdInput(build, codec, typeName, owner);
  if (ids) return ids;
  const composite = compositeNamed(build, typeName);
  if (!composite) throw new Error(`${owner} is said to be {${typeName}}, and there is no such type`);
  if (composite === rowTypeOf(codec)) return inputOf(build, composite, undefined, owner);
  if (!isJson(codec)) {
    throw new Error(`${owner} is said to be {${typeName}}, and is ${nameInSql(codec)}: neither that type nor jsonb`);
  }
  const { type, read } = inputOf(build, composite, undefined, owner);
  return { type, read: (value, path) => toJson(composite, read(value, path)) };
}

/** Finds a composite type by its name in the graph, with or without `Input`. */
export function compositeNamed(
  { inflection, allPgCodecs }: GraphileBuild.Build,
  typeName: string,
): PgCodec | undefined {
  return Array.from(allPgCodecs).find((codec) => {
    if (!isComposite(codec) || codec.isAnonymous || codec.domainOfCodec) return false;
    const name = inflection.tableType(codec as Parameters<typeof inflection.tableType>[0]);
    return typeName === name || typeName === inflection.inputType(name);
  });
}

/** A field of an input object, and its attribute. */
type InputField = {
  readonly attribute: string;
  readonly input: Input;
  readonly isRequired: boolean;
  readonly description: string | undefined;
};

/**
 * The fields of a composite type's input object, by their names.
 * `@notNull` in an attribute's comment makes its field required; `@type {Unit}` makes it the id of a Unit.
 *
 * @throws when GraphQL cannot have one of them
 */
export function inputFieldsOf(build: GraphileBuild.Build, codec: PgCodec): ReadonlyMap<string, InputField> {
  const known = fieldsOfCodecs.get(codec);
  if (known) return known;
  const fields = new Map<string, InputField>();
  for (const [attribute, spec] of Object.entries(codec.attributes ?? {})) {
    const isGiven = build.behavior.pgCodecAttributeMatches([codec as never, attribute], 'attribute:input');
    if (!isGiven || spec.extensions?.isInsertable === false) continue;
    const owner = `The attribute ${attribute} of ${nameInSql(codec)}`;
    const name = build.inflection.attribute({ attributeName: attribute, codec: codec as never });
    if (fields.has(name)) throw new Error(`${owner} has the same name in GraphQL as another: ${name}`);
    const { tags } = spec.extensions ?? {};
    const isRequired = (spec.notNull === true || tags?.notNull !== undefined) && spec.hasDefault !== true;
    if (isRequired && isOneOf(codec)) throw new Error(`${owner} cannot be required: of @oneOf exactly one is given`);
    const input = inputOf(build, spec.codec as PgCodec, typeNameOf(tags?.type, owner), owner);
    fields.set(name, { attribute, input, isRequired, description: spec.description });
  }
  if (fields.size === 0) throw new Error(`${nameInSql(codec)} has no attribute that a client could give`);
  fieldsOfCodecs.set(codec, fields);
  return fields;
}

/** Whether the comment of a composite type requires exactly one of its attributes. */
export const isOneOf = (codec: PgCodec) => codec.extensions?.tags?.oneOf !== undefined;

/** Each build of the schema makes codecs of its own. */
const fieldsOfCodecs = new WeakMap<PgCodec, ReadonlyMap<string, InputField>>();

/** `User` of `@type {User}` in an attribute's comment. @throws when the tag has another form */
export function typeNameOf(tag: unknown, owner: string): string | undefined {
  if (tag === undefined) return undefined;
  const [, typeName] = /^\{(\w+)\}$/.exec(String(tag)) ?? [];
  if (typeName === undefined) throw new Error(`${owner}: "@type ${tag}" is not written like @type {Unit}`);
  return typeName;
}

function readObject(build: GraphileBuild.Build, codec: PgCodec): Input['read'] {
  return (value, path) => {
    const attributes: Record<string, unknown> = Object.create(null);
    for (const [name, { attribute, input }] of inputFieldsOf(build, codec)) {
      const given = (value as Readonly<Record<string, unknown>>)[name];
      if (given === undefined) continue;
      attributes[attribute] = given === null ? null : input.read(given, `${path}.${name}`);
    }
    return attributes;
  };
}

const readList =
  (read: Input['read']): Input['read'] =>
  (items, path) => {
    // GraphQL accepts a single value for a list of it, and turns it into a list.
    const list = items as readonly unknown[];
    if (list.length > maxItems) throw new InputError(`${path} has more than ${maxItems} items.`);
    return list.map((item, index) => read(item, `${path}[${index}]`));
  };

function readText(value: unknown, path: string): unknown {
  const problem = unusableIn(value);
  if (problem) throw new InputError(`${path} ${problem}.`);
  return value;
}

/** For a domain over a composite type, that type. */
const rowTypeOf = (codec: PgCodec): PgCodec => (codec.attributes ? baseOf(codec) : codec);

/**
 * Global ids in place of a table's keys: of a type, or of any type of an interface.
 * A key of several columns is a composite type of these. Null when no type of nodes has this name.
 *
 * @throws when the key is not of the type `codec`
 */
function nodeIdInput(build: GraphileBuild.Build, codec: PgCodec, typeName: string, owner: string): Input | null {
  const { nodeKeys } = build;
  const types = typesNamed(build, typeName);
  const keys = types[0] === undefined ? undefined : nodeKeys.get(types[0]);
  if (!keys) return null;
  const attributes = Object.entries(codec.attributes ?? {});
  const parts = codec.attributes ? attributes.map(([, attribute]) => attribute.codec as PgCodec) : [codec];
  if (keys.length !== parts.length || !keys.every((key, index) => baseOf(key) === baseOf(parts[index] ?? key))) {
    const columns = keys.map(nameInSql).join(' and ');
    throw new Error(`${owner} is ${nameInSql(codec)}, and cannot be the id of a ${typeName}, whose key is ${columns}`);
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

export const isJson = (codec: PgCodec) => [TYPES.json, TYPES.jsonb].includes(baseOf(codec) as typeof TYPES.json);

/** Makes a value one for `jsonb_populate_record`, in place: leaves out what was not given. */
function toJson(codec: PgCodec, value: unknown): unknown {
  if (value === null) return null;
  const { arrayOfCodec, attributes } = codec;
  if (arrayOfCodec) return (value as readonly unknown[]).map((item) => toJson(arrayOfCodec, item));
  if (attributes) {
    const row = value as Record<string, unknown>;
    for (const name in row) row[name] = toJson(attributes[name]?.codec as PgCodec, row[name]);
    return row;
  }
  return isJson(codec) || typeof value === 'number' || typeof value === 'boolean' ? value : codec.toPg(value);
}

/** How clients give a value of a PostgreSQL type, and how it is converted. */
type Input = {
  /** The type without the `!` of a required one. */
  readonly type: GraphQLInputType;
  /**
   * Converts a value, not null, to the form for the codec of its type.
   *
   * @param path names the value in a message: `visits[3].note`
   * @throws {InputError}
   */
  readonly read: (value: unknown, path: string) => unknown;
};

/** A value of the right GraphQL type that cannot be used. The message is for the client. */
export class InputError extends Error {
  override name = 'InputError';
}

/** The name in SQL. */
export const nameInSql = ({ extensions, name }: Pick<PgCodec | PgResource, 'extensions' | 'name'>): string =>
  extensions?.pg ? `${extensions.pg.schemaName}.${extensions.pg.name}` : name;
