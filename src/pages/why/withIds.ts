import {
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
  print,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'postgraphile/graphql';
import { isNestedTooDeep } from '../../graphql/document/document.ts';

/** What a tool needs to find the rows behind an answer. */
export type Traced = {
  /** The document, which selects the id of each object too, under {@link idKey}. */
  readonly query: string;
  readonly idKey: string;
  /** By key of the answer: the fields that may have it. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** By key of the answer: the id that `node(id:)` was asked for. */
  readonly asked: Readonly<Record<string, string>>;
};

/**
 * Query rewriting: adds the id, under a name of its own, to each selection of objects that have one.
 * Nothing else in the answer changes, so who takes these keys out has the answer to the document as it was.
 *
 * @param maxTokens the service's own limit
 * @throws {GraphQLError} when the document cannot be parsed, has more tokens, or is nested too deep
 */
export function withIds(
  schema: GraphQLSchema,
  text: string,
  variables: Readonly<Record<string, unknown>>,
  maxTokens: number,
): Traced {
  if (isNestedTooDeep(text, maxTokens)) throw new GraphQLError('The document is nested too deep.');
  const document = parse(text, { maxTokens });
  const types = new TypeInfo(schema);
  // Maps, since a key may be `constructor`.
  const fields = new Map<string, Set<string>>();
  const asked = new Map<string, string>();
  const traced: DocumentNode = visit(
    document,
    visitWithTypeInfo(types, {
      Field(node) {
        const key = node.alias?.value ?? node.name.value;
        fields.set(key, (fields.get(key) ?? new Set<string>()).add(node.name.value));
        const id = types.getParentType() === schema.getQueryType() ? idOf(node, variables) : null;
        if (id !== null) asked.set(key, id);
      },
      SelectionSet: {
        leave(node) {
          const parent = types.getParentType();
          if (!hasId(parent ?? undefined)) return undefined;
          return { ...node, selections: [...node.selections, idNode] };
        },
      },
    }),
  );
  return {
    query: print(traced),
    idKey,
    fields: Object.fromEntries(Array.from(fields, ([key, names]) => [key, [...names]])),
    asked: Object.fromEntries(asked),
  };
}

function hasId(type: ReturnType<TypeInfo['getParentType']> | undefined): boolean {
  if (!type || !isCompositeType(getNamedType(type))) return false;
  return (isObjectType(type) || isInterfaceType(type)) && 'id' in type.getFields();
}

/** No field of a schema begins with two underscores (GraphQL specification, 2.1.9), and hardly an alias. */
const idKey = '__id';

const idNode: FieldNode = {
  kind: Kind.FIELD,
  alias: { kind: Kind.NAME, value: idKey },
  name: { kind: Kind.NAME, value: 'id' },
};

/** The id that the field `node` is asked for, in the document or in a variable. */
function idOf({ name, arguments: given }: FieldNode, variables: Readonly<Record<string, unknown>>): string | null {
  const value = name.value === 'node' ? given?.find((argument) => argument.name.value === 'id')?.value : undefined;
  const id = value?.kind === Kind.VARIABLE ? variables[value.name.value] : value;
  if (typeof id === 'string') return id;
  return value?.kind === Kind.STRING ? value.value : null;
}
