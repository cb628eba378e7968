import { type PgCodec, type PgSelectStep, TYPES } from 'postgraphile/@dataplan/pg';
import { lambda, type Step } from 'postgraphile/grafast';
import { GraphQLBoolean, GraphQLList, GraphQLNonNull, type GraphQLOutputType } from 'postgraphile/graphql';
import { nodeTypes } from '../NodeIdPlugin.ts';
import { type FunctionResource, problem } from './functionArguments.ts';
import { isComposite } from './inputOf.ts';
import { listOfArray } from './rowsOfArray.ts';

export type PayloadField = {
  readonly name: string;
  readonly type: GraphQLOutputType;
  readonly description: string;
  /** Makes the field's value from what the function returned. */
  readonly ofResult: ($result: Step) => Step;
};

/**
 * The payload of a function: a row, rows, a value or, for `void`, that it is done.
 * A row's field has its type's name, rows have the plural, a value has `result`. `@payloadField` gives the field another name.
 *
 * @throws when GraphQL cannot have it
 */
export function payloadFieldOf(build: GraphileBuild.Build, resource: FunctionResource): PayloadField {
  const { codec, isUnique, isList, sqlPartitionByIndex } = resource;
  if (sqlPartitionByIndex || (codec.arrayOfCodec && !isUnique))
    throw problem(resource, 'returns a set of arrays; let it return the set of their items');
  if (codec === TYPES.void) {
    if (!isUnique) throw problem(resource, 'returns setof void; let it return void');
    return done;
  }
  const item = codec.arrayOfCodec ?? codec;
  const { notNull, returnType, payloadField: ownName } = resource.extensions?.tags ?? {};
  // The rows' type may be an interface; these rows are always of this type.
  const itemType = (
    returnType === undefined
      ? build.getGraphQLTypeByPgCodec(item, 'output')
      : nodeTypes(build, item).includes(String(returnType)) && build.getTypeByName(String(returnType))
  ) as GraphQLOutputType | null | false;
  if (!itemType || item.arrayOfCodec)
    throw problem(resource, `returns ${returnType ?? item.name}, which GraphQL does not have`);
  const isMany = !isUnique || isList || codec.arrayOfCodec !== undefined;
  // An array may be null, and so may its items.
  const isSet = !isUnique && !isList;
  const isNotNull = isSet || notNull !== undefined;
  const type = isMany ? new GraphQLList(isSet && item.attributes ? new GraphQLNonNull(itemType) : itemType) : itemType;
  return {
    ...nameOfResult(build, item, isMany),
    ...(typeof ownName === 'string' && { name: ownName }),
    type: isNotNull ? new GraphQLNonNull(type) : type,
    ofResult: ($result) => (isList ? listOfArray($result as PgSelectStep) : $result),
  };
}

const done: PayloadField = {
  name: 'ok',
  type: new GraphQLNonNull(GraphQLBoolean),
  description: 'True: it is done.',
  ofResult: ($result) => lambda($result, () => true, true),
};

function nameOfResult(build: GraphileBuild.Build, codec: PgCodec, isMany: boolean) {
  if (!codec.attributes || isComposite(codec))
    return { name: 'result', description: isMany ? 'What came of it, one by one.' : 'What came of it.' };
  const { inflection } = build;
  const typeName = inflection.tableType(codec as Parameters<typeof inflection.tableType>[0]);
  const name = inflection.camelCase(isMany ? inflection.pluralize(typeName) : typeName);
  const description = isMany
    ? 'The rows after the change; as they were, when they were deleted.'
    : 'The row after the change; as it was, when it was deleted.';
  return { name, description };
}
