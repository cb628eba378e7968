import {
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  OperationTypeNode,
  parse,
  print,
} from 'postgraphile/graphql';
import { type Field, fieldsOf, nodesOf } from './domain.ts';

export type Example = { readonly document: string; readonly variables: Readonly<Record<string, unknown>> };

/** The path from `Query`, `Mutation` or `Subscription` to a field. */
export type Operation = { readonly kind: `${OperationTypeNode}`; readonly path: readonly Field[] };

/**
 * An example for each field of `Query`, `Mutation` and `Subscription`, and of `viewer` and `app`.
 * The examples are derived from the schema, so that a new table or function has one at once.
 *
 * @returns by the coordinates of the field, such as `App.users`
 */
export const createExamples = (schema: GraphQLSchema): ReadonlyMap<string, Example> =>
  new Map(Array.from(listOperations(schema), ([of, operation]) => [of, createExample(operation)]));

/** By the coordinates of its last field. */
export function listOperations(schema: GraphQLSchema): ReadonlyMap<string, Operation> {
  const operations = new Map<string, Operation>();
  const query = schema.getQueryType();
  for (const root of query ? fieldsOf(query) : []) {
    operations.set(`Query.${root.name}`, { kind: 'query', path: [root] });
    const type = getNamedType(root.type);
    if (root.args.length > 0) continue;
    for (const field of fieldsOf(type).filter((it) => !isLeafType(getNamedType(it.type))))
      operations.set(`${type.name}.${field.name}`, { kind: 'query', path: [root, field] });
  }
  for (const kind of [OperationTypeNode.MUTATION, OperationTypeNode.SUBSCRIPTION]) {
    const root = schema.getRootType(kind);
    for (const field of root ? fieldsOf(root) : []) operations.set(`${root}.${field.name}`, { kind, path: [field] });
  }
  return operations;
}

/** @param selection of the last field */
export function createExample(
  { kind, path }: Operation,
  operation = path.map(({ name }) => name.charAt(0).toUpperCase() + name.slice(1)).join(''),
  selection = select(getNamedType((path.at(-1) as Field).type), 1),
): Example {
  const isGiven = (input: Input) =>
    kind === 'mutation' ? isShown(input) : isRequired(input) || /^first$|ExternalIdentifier$/.test(input.name);
  const inputs = path.flatMap(({ args }) => args.filter(isGiven));
  const whole = path.reduceRight((inner, { name, args }) => {
    const given = args.filter(isGiven).map((argument) => `${argument.name}: $${argument.name}`);
    return `{ ${name}${inParentheses(given)} ${inner} }`;
  }, selection);
  const declared = inputs.map(({ name, type }) => `$${name}: ${type}`);
  return {
    document: print(parse(`${kind} ${operation}${inParentheses(declared)} ${whole}`)),
    variables: Object.fromEntries(inputs.map(({ name, type }) => [name, exampleOf(path, name, type)])),
  };
}

const inParentheses = (parts: readonly string[]) => (parts.length > 0 ? `(${parts.join(', ')})` : '');

/**
 * The selection of a type in an example: its scalars, and those of its single objects.
 *
 * @param levels how deep objects are selected; connections and payloads around them do not count
 */
function select(type: GraphQLNamedType, levels: number): string {
  if (isLeafType(type)) return '';
  const isAround = /(Connection|Payload)$/.test(type.name);
  const parts = fieldsOf(type)
    .filter(isSelected)
    .flatMap((field) => {
      const target = getNamedType(field.type);
      if (isLeafType(target)) return field.name;
      const isFollowed = isAround
        ? field.name !== 'edges'
        : levels > 0 && !nodesOf(target) && !isListType(getNullableType(field.type));
      return isFollowed ? `${field.name} ${select(target, isAround ? levels : levels - 1)}` : [];
    });
  return `{ ${isObjectType(type) && parts.length > 0 ? '' : '__typename'} ${parts.join(' ')} }`;
}

const isSelected = ({ name, args, deprecationReason }: Field) =>
  args.length === 0 && !deprecationReason && !isCredential(name);

type Input = Pick<GraphQLInputField, 'name' | 'type' | 'defaultValue' | 'deprecationReason'>;

const isRequired = ({ type, defaultValue }: Input) => isNonNullType(type) && defaultValue === undefined;

/**
 * Whether a mutation's example gives an input: optional ids, objects and credentials are left out.
 * The client system has its own identifiers beforehand.
 */
const isShown = (input: Input) =>
  isRequired(input) ||
  !(
    input.deprecationReason ||
    isCredential(input.name) ||
    getNamedType(input.type).name === 'ID' ||
    isInputObjectType(input.type)
  );

const isCredential = (name: string) => /(token|secret|password)$/i.test(name);

/** An object is always `example-user` or the like, so that later examples find it. */
function exampleOf(path: readonly Field[], name: string, type: GraphQLInputType): unknown {
  const [, object] = /^(\w+)(?:Create|Update|Delete)$/.exec(path.at(-1)?.name ?? '') ?? [];
  if (name !== 'externalIdentifier' || !object) return exampleValue(name, type);
  return object === 'card' ? valuesByName.cardExternalIdentifier : `example-${inWords(object)}`;
}

const inWords = (name: string) => name.replaceAll(/[A-Z]/g, '-$&').toLowerCase();

function exampleValue(name: string, type: GraphQLInputType): unknown {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return [exampleValue(name, nullable.ofType)];
  if (isEnumType(nullable)) return nullable.getValues()[0]?.name;
  // `unitId` is UNIT_ID: a value that the reader must fill in is in capitals.
  if (nullable.name === 'ID') return name.replace(/[A-Z]/g, '_$&').toUpperCase();
  if (!isInputObjectType(nullable)) return valuesByName[name] ?? valuesByType[nullable.name] ?? 'Example';
  const fields = Object.values(nullable.getFields()).filter(isShown);
  const given = nullable.isOneOf ? fields.slice(0, 1) : fields;
  return Object.fromEntries(given.map((field) => [field.name, exampleValue(field.name, field.type)]));
}

/**
 * Values for inputs whose type alone does not show what is valid.
 * The examples of mutations run one after the other, in the order of the schema.
 */
const valuesByName: Readonly<Record<string, unknown>> = {
  cardExternalIdentifier: 'example-nfc-card',
  email: 'mary@example.test',
  externalIdentifier: 'example',
  first: 3,
  fullName: 'Mary Somerville',
  locale: 'en',
  nfcIdentifier: '04A224B2C13A81',
  parentExternalIdentifier: 'campus',
  timeZone: 'London',
  unitExternalIdentifier: 'example-unit',
  url: 'https://hooks.example.com/graph',
  userExternalIdentifier: 'example-user',
  validFrom: '2026-01-31T08:00:00Z',
  validUntil: '2190-01-31T18:00:00Z',
};

const valuesByType: Readonly<Record<string, unknown>> = {
  Boolean: true,
  Date: '2026-01-31',
  Datetime: '2026-01-31T12:00:00Z',
  Float: 1.5,
  Int: 1,
  UUID: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e',
};
