import type { PgCodec } from 'postgraphile/@dataplan/pg';
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  type OperationDefinitionNode,
  TypeInfo,
  valueFromAST,
  visit,
  visitWithTypeInfo,
} from 'postgraphile/graphql';

/** The first argument in which a document uses a variable. */
export function argumentOf(variable: string, document: DocumentNode): string | undefined {
  let argument: string | undefined;
  let found: string | undefined;
  visit(document, {
    VariableDefinition: () => false,
    Argument({ name }) {
      argument = name.value;
    },
    Variable({ name }) {
      if (name.value === variable) found ??= argument;
    },
  });
  return found;
}

/** An argument that an operation might give, and whether it gives a value. */
export type DeclaredArgument = { readonly argument: GraphQLArgument; readonly isGiven: boolean };

/** An operation, the fragments of its document, and the schema that it is for. */
export type ExecutableOperation = {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
};

/**
 * The arguments that may be to blame for an error below a root field, whose key begins the error's path.
 * Of a mutation these are its own; a query's field is one statement with all fields below it.
 */
export function declaredArguments(
  { schema, operation, fragments }: ExecutableOperation,
  coerced: Readonly<Record<string, unknown>>,
  key: string | number | undefined,
): readonly DeclaredArgument[] {
  const types = new TypeInfo(schema);
  const root = schema.getRootType(operation.operation);
  const found: DeclaredArgument[] = [];
  const visitor = visitWithTypeInfo(types, {
    Field({ name, alias, arguments: given = [] }) {
      const isRoot = types.getParentType() === root;
      if (isRoot ? (alias ?? name).value !== key : operation.operation === 'mutation') return false;
      for (const argument of types.getFieldDef()?.args ?? []) {
        const value = given.find((each) => each.name.value === argument.name)?.value;
        found.push({ argument, isGiven: value !== undefined && valueFromAST(value, argument.type, coerced) != null });
      }
      return undefined;
    },
  });
  for (const node of [operation, ...fragments.values()]) visit(node, visitor);
  return found;
}

/** The argument of this name, else the only one whose input objects have such a field. */
export function argumentNamed(name: string, declared: readonly DeclaredArgument[]): string | undefined {
  if (declared.some(({ argument }) => argument.name === name)) return name;
  return onlyName(declared.filter(({ argument }) => hasField(argument.type, name)));
}

/** The only argument that is given and of a type of PostgreSQL, or of one that contains it. */
export const argumentOfType = (declared: readonly DeclaredArgument[], isOfType: (codec: PgCodec) => boolean) =>
  onlyName(
    declared.filter(({ argument: { extensions }, isGiven }) => {
      const codec = extensions.pgCodec as PgCodec | undefined;
      return isGiven && codec !== undefined && typesWithin(codec).some(isOfType);
    }),
  );

function onlyName(declared: readonly DeclaredArgument[]): string | undefined {
  const [name, ...others] = new Set(declared.map(({ argument }) => argument.name));
  return others.length === 0 ? name : undefined;
}

function hasField(type: GraphQLInputType, name: string, above: readonly unknown[] = []): boolean {
  const object = getNamedType(type);
  if (!isInputObjectType(object) || above.includes(object)) return false;
  const fields = Object.values(object.getFields());
  return fields.some((field) => field.name === name || hasField(field.type, name, [...above, object]));
}

/** A type, and those that its values are made of. */
function typesWithin(codec: PgCodec): PgCodec[] {
  const { arrayOfCodec, domainOfCodec, rangeOfCodec, attributes } = codec;
  const parts = [
    arrayOfCodec,
    domainOfCodec,
    rangeOfCodec,
    ...Object.values(attributes ?? {}).map((each) => each.codec),
  ];
  return [codec, ...parts.flatMap((part) => (part ? typesWithin(part as PgCodec) : []))];
}
