import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';

/** A connection, and how a document comes to it. */
export type ConnectionField = {
  /** As `Unit.usersWithAccess`. */
  readonly name: string;
  readonly field: GraphQLField<unknown, unknown>;
  /** The document that selects `inner` of the object that has it. */
  readonly selecting: (inner: string) => string;
};

type Place = { readonly type: GraphQLNamedType; readonly selecting: (inner: string) => string };

/** The connections below a type, each by the shortest way, with the type itself selected by `selecting`. */
export function connectionsBelow(
  schema: GraphQLSchema,
  typeName: string,
  selecting: Place['selecting'],
): ConnectionField[] {
  const found: ConnectionField[] = [];
  const start = schema.getType(typeName);
  const left: Place[] = start ? [{ type: start, selecting }] : [];
  const seen = new Set(left.map(({ type }) => type));
  const visit = (place: Place) => {
    if (seen.has(place.type)) return;
    seen.add(place.type);
    left.push(place);
  };
  for (const { type, selecting } of left) {
    if (isAbstractType(type))
      for (const member of schema.getPossibleTypes(type))
        visit({ type: member, selecting: (inner) => selecting(`... on ${member.name} { ${inner} }`) });
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const inner = getNamedType(field.type);
      if (inner.name.endsWith('Connection')) found.push({ name: `${type.name}.${field.name}`, field, selecting });
      if (!field.args.some(isRequiredArgument))
        visit({ type: inner, selecting: (of) => selecting(`${field.name} { ${of} }`) });
    }
  }
  return found;
}

/** Each filter and each order of a connection, as the text of an argument. */
export function argumentsOf(field: ConnectionField['field']): string[] {
  return field.args
    .filter(({ name }) => !pageArguments.includes(name))
    .flatMap((argument) => valuesOf(argument).map((value) => `${argument.name}: ${value}`));
}

const pageArguments = ['first', 'last', 'after', 'before'];

function valuesOf({ name, type }: GraphQLArgument): string[] {
  const item = getNullableType(type);
  if (isListType(item)) return valuesOf({ name, type: item.ofType } as GraphQLArgument).map((value) => `[${value}]`);
  return values(item);
}

function values(given: GraphQLInputType): string[] {
  const type = getNullableType(given);
  if (isEnumType(type)) return type.getValues().map((value) => value.name);
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).map(({ name, type: inner }) => `${name}: ${values(inner)[0]}`);
    return [`{ ${fields.join(', ')} }`];
  }
  const { name } = getNamedType(type);
  const known = scalars[name];
  if (!known) throw new Error(`No value of ${name} is known`);
  return known;
}

/** Values of each scalar that a filter may have. */
const scalars: Readonly<Record<string, string[]>> = {
  Boolean: ['true', 'false'],
  BigFloat: ['1.5'],
  BigInt: ['9007199254740993'],
  Date: ['"2026-01-02"'],
  Datetime: ['"2026-01-02T03:04:05Z"'],
  Float: ['1.5'],
  ID: [`"${Buffer.from('Unit:01900000-0000-7000-8000-000000000000').toString('base64url')}"`],
  Int: ['1'],
  String: ['"a@acme.test"'],
  UUID: ['"01900000-0000-7000-8000-000000000000"'],
};
