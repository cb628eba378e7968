import fc from 'fast-check';
import {
  DirectiveLocation,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
  OperationTypeNode,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from 'postgraphile/graphql';
import { type Argument, type Directive, type Document, otherRequests, render, type Selection } from './render.ts';
import type { Value } from './values.ts';

type ValuesOf = (argument: GraphQLArgument) => fc.Arbitrary<Value>;

/**
 * Documents that are drawn from the schema alone, with all fields, arguments, directives, fragments and variables that it has.
 * They fit it, save that two fields of one name may differ by their arguments.
 */
export function documents(schema: GraphQLSchema, valuesOf: ValuesOf): fc.Arbitrary<Document> {
  const selections = createSelections(schema, valuesOf);
  const operations = (kind: OperationTypeNode, levels: number) =>
    fc
      .record({
        selections: selections(schema.getRootType(kind) as GraphQLObjectType, levels),
        directives: directivesAt(schema, DirectiveLocation.QUERY, valuesOf),
        name: fc.constantFrom('', 'A', '__proto__'),
      })
      .map((operation) => render({ kind, ...operation }));
  return fc.oneof(
    { weight: 3, arbitrary: operations(OperationTypeNode.QUERY, 5) },
    { weight: 3, arbitrary: operations(OperationTypeNode.QUERY, 3) },
    { weight: 3, arbitrary: operations(OperationTypeNode.MUTATION, 3) },
  );
}

/** Queries that mostly go straight to where the lists are, and deep enough for lists in lists in lists. */
export function queries(schema: GraphQLSchema, valuesOf: ValuesOf): fc.Arbitrary<Document> {
  const selections = createSelections(schema, valuesOf);
  const below = (name: string, levels: number) =>
    selections(getNamedType(schema.getQueryType()?.getFields()[name]?.type) as GraphQLObjectType, levels).map(
      (inner) => [{ name, alias: null, args: [], directives: [], inner }],
    );
  return fc
    .oneof(
      { weight: 4, arbitrary: fc.constantFrom(4, 6, 8).chain((levels) => below('app', levels)) },
      { weight: 2, arbitrary: fc.constantFrom(4, 6).chain((levels) => below('viewer', levels)) },
      { weight: 1, arbitrary: selections(schema.getQueryType() as GraphQLObjectType, 6) },
    )
    .map((drawn) => render({ kind: OperationTypeNode.QUERY, name: '', directives: [], selections: drawn }));
}

type Composite = GraphQLObjectType | GraphQLInterfaceType;

/** Selections on a type, at most this many levels deep. */
function createSelections(schema: GraphQLSchema, valuesOf: ValuesOf) {
  const made = new Map<string, fc.Arbitrary<readonly Selection[]>>();

  const selections = (type: Composite, levels: number): fc.Arbitrary<readonly Selection[]> => {
    const key = `${type.name} ${levels}`;
    const known = made.get(key) ?? make(type, levels);
    made.set(key, known);
    return known;
  };

  const make = (type: Composite, levels: number): fc.Arbitrary<readonly Selection[]> => {
    const isAllowed = (field: Field) => levels > 1 || !isComposite(getNamedType(field.type));
    const own = Object.values(type.getFields()).filter(isAllowed);
    const meta = metaFields(schema, type).filter(isAllowed);
    const weigh = (weight: number) => (field: Field) => ({ weight, arbitrary: fields(field, levels) });
    const fragment = levels > 1 ? [{ weight: isAbstractType(type) ? 30 : 2, arbitrary: fragments(type, levels) }] : [];
    return fc.uniqueArray(fc.oneof(...own.map(weigh(6)), ...meta.map(weigh(1)), ...fragment), {
      minLength: 1,
      maxLength: levels > 2 ? 2 : 3,
      selector: (selection) => ('name' in selection ? (selection.alias ?? selection.name) : selection),
    });
  };

  const fields = (field: Field, levels: number): fc.Arbitrary<Selection> => {
    const type = getNamedType(field.type);
    return fc.record({
      name: fc.constant(field.name),
      alias: rarely(aliases, null),
      args: argumentsOf(field.args, valuesOf),
      directives: directivesAt(schema, DirectiveLocation.FIELD, valuesOf),
      inner: isComposite(type) ? selections(type, levels - 1) : fc.constant(null),
    });
  };

  const fragments = (type: Composite, levels: number): fc.Arbitrary<Selection> => {
    const conditions = isAbstractType(type)
      ? [type, ...schema.getPossibleTypes(type)]
      : [type, ...type.getInterfaces()];
    return fc.constantFrom(...conditions).chain((condition) =>
      fc.record({
        on: fc.constant(condition.name),
        isNamed: fc.boolean(),
        directives: directivesAt(schema, DirectiveLocation.INLINE_FRAGMENT, valuesOf),
        inner: selections(condition, levels - 1),
      }),
    );
  };

  return selections;
}

const aliases = fc.oneof(
  { weight: 3, arbitrary: fc.nat(999).map((number) => `a${number}`) },
  fc.constantFrom('data', '__proto__', 'constructor', 'then', 'toJSON'),
);

type Field = GraphQLField<unknown, unknown>;

const isComposite = (type: unknown): type is Composite => isObjectType(type) || isInterfaceType(type);

function metaFields(schema: GraphQLSchema, type: Composite): Field[] {
  const onQuery = [SchemaMetaFieldDef, TypeMetaFieldDef];
  return [TypeNameMetaFieldDef, ...(type === schema.getQueryType() ? onQuery : [])];
}

/** The required arguments, and one in four of the others. */
function argumentsOf(args: readonly GraphQLArgument[], valuesOf: ValuesOf): fc.Arbitrary<readonly Argument[]> {
  const some = args.map((argument) => {
    const given = fc.record({
      name: fc.constant(argument.name),
      type: fc.constant(String(argument.type)),
      value: valuesOf(argument),
      others: fc.array(valuesOf(argument), { minLength: otherRequests, maxLength: otherRequests }),
      as: fc.constantFrom('literal' as const, 'literal' as const, 'variable' as const, 'default' as const),
    });
    return isRequiredArgument(argument) ? given : rarely(given, null, args.length);
  });
  return fc.tuple(...some).map((drawn) => drawn.filter((argument) => argument !== null));
}

function directivesAt(schema: GraphQLSchema, at: DirectiveLocation, valuesOf: ValuesOf) {
  const allowed = schema.getDirectives().filter(({ locations }) => locations.includes(at));
  const drawn = allowed.map(({ name, args }) =>
    fc.record<Directive>({ name: fc.constant(name), args: argumentsOf(args, valuesOf) }),
  );
  return drawn.length === 0
    ? fc.constant([])
    : rarely(
        fc.oneof(...drawn).map((directive) => [directive]),
        [],
        15,
      );
}

/** Once in `every` times; else the other. */
function rarely<Drawn, Other>(drawn: fc.Arbitrary<Drawn>, other: Other, every = 4): fc.Arbitrary<Drawn | Other> {
  return fc.oneof({ weight: every - 1, arbitrary: fc.constant(other) }, { weight: 1, arbitrary: drawn });
}
