import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  print,
  type SelectionSetNode,
  type ValueNode,
  visit,
} from 'postgraphile/graphql';
import { fieldOf } from '../measureOperations.ts';

/**
 * Field Selection Merging (GraphQL section 5.3.2) by response path instead of by pairs of fields.
 * GraphQL.js compares each two fields that share a response name, and then everything below the one with everything below the other.
 * Here the fields of one path are compared together, equal ones are merged, and the selections below a path are visited once. S. Adameit
 * had the idea, which Sangria and graphql-java follow ("GraphQL: Overlapping fields can be merged fast", 2019). They visit each group of
 * parents that can be one object again, and a hostile document doubles these groups at each level. Here a matrix has the parents that can
 * be one object. So the time is linear in the fields after the expansion of fragments. It is quadratic, at a byte for each pair, only in
 * the differing fields of one path.
 *
 * @param fragments that spread each other in no cycle
 * @returns the first conflict of each operation
 */
export function findConflicts(
  schema: GraphQLSchema,
  { definitions }: DocumentNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): GraphQLError[] {
  const collect = createCollect(schema, fragments);

  const checkBelow = (parents: readonly Selected[], mayMeet: MayMeet): GraphQLError | null => {
    for (const [name, fields] of collect(parents)) {
      const distinct = unite(fields);
      const meet = meetingOf(distinct, mayMeet);
      const conflict =
        findDifferentShape(name, distinct) ?? findDifferentFields(name, distinct, meet) ?? checkBelow(distinct, meet);
      if (conflict) return conflict;
    }
    return null;
  };

  return definitions.flatMap((node) => {
    if (node.kind !== Kind.OPERATION_DEFINITION) return [];
    const root = { selectionSets: [node.selectionSet], inner: schema.getRootType(node.operation) ?? undefined };
    return checkBelow([root], always) ?? [];
  });
}

/** The selections on the objects of one field, or of several equal fields. */
type Selected = { readonly selectionSets: readonly SelectionSetNode[]; readonly inner: GraphQLNamedType | undefined };

/** A field of a selection set, or of a fragment that it spreads. */
type Selection = Selected & {
  readonly node: FieldNode;
  readonly name: string;
  /** The type that it is selected on; undefined where the schema has none. */
  readonly type: GraphQLNamedType | undefined;
  readonly output: GraphQLOutputType | undefined;
  /** Equal for fields of the same name and arguments. */
  readonly signature: number;
};

/** @property parent which of the fields above it is selected on */
type Field = Selection & { readonly parent: number };

/** Whether the objects of two fields of one path can be the same object. */
type MayMeet = (one: number, other: number) => boolean;
const always: MayMeet = () => true;

/** Collects by response name what is selected on some fields. */
function createCollect(schema: GraphQLSchema, fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
  // By number, since arguments may be long and are compared often.
  const numbers = new Map<string, number>();
  const signatureOf = (node: FieldNode): number => {
    const text = signatureText(node);
    const number = numbers.get(text) ?? numbers.size;
    numbers.set(text, number);
    return number;
  };

  const ofFragments = new Map<string, readonly Selection[]>();
  const ofFragment = (name: string): readonly Selection[] => {
    const known = ofFragments.get(name);
    if (known) return known;
    const fragment = fragments.get(name);
    const found = fragment ? flatten(fragment.selectionSet, schema.getType(fragment.typeCondition.name.value)) : [];
    ofFragments.set(name, found);
    return found;
  };

  const flatten = ({ selections }: SelectionSetNode, type: GraphQLNamedType | undefined): readonly Selection[] =>
    selections.flatMap((node) => {
      if (node.kind === Kind.FRAGMENT_SPREAD) return ofFragment(node.name.value);
      if (node.kind === Kind.INLINE_FRAGMENT)
        return flatten(node.selectionSet, node.typeCondition ? schema.getType(node.typeCondition.name.value) : type);
      const output = fieldOf(type, node.name.value)?.type;
      return {
        node,
        name: (node.alias ?? node.name).value,
        type,
        output,
        signature: signatureOf(node),
        selectionSets: node.selectionSet ? [node.selectionSet] : [],
        inner: output && getNamedType(output),
      };
    });

  return (parents: readonly Selected[]): Map<string, Field[]> => {
    const fields = parents.flatMap(({ selectionSets, inner }, parent) =>
      selectionSets.flatMap((set) => flatten(set, inner).map((selection): Field => ({ ...selection, parent }))),
    );
    return Map.groupBy(fields, ({ name }) => name);
  };
}

/** The name and the arguments, in no order. */
function signatureText({ name, arguments: given = [] }: FieldNode): string {
  const values = given.map((argument: ArgumentNode) => `${argument.name.value}:${print(inOrder(argument.value))}`);
  return `${name.value}(${values.sort().join()})`;
}

const inOrder = (value: ValueNode): ValueNode =>
  visit(value, {
    ObjectValue: {
      leave: (node) => ({ ...node, fields: node.fields.toSorted((a, b) => (a.name.value < b.name.value ? -1 : 1)) }),
    },
  });

/** Merges fields that ask the same of the same objects into one, with the selection sets of all. */
function unite(fields: readonly Field[]): readonly Field[] {
  if (fields.length === 1) return fields;
  const united = Map.groupBy(fields, ({ parent, type, signature }) => `${parent} ${type?.name ?? ''} ${signature}`);
  return Array.from(united.values(), (same) => {
    const [first] = same as [Field];
    const selectionSets = new Set(same.flatMap(({ selectionSets }) => selectionSets));
    return same.length === 1 ? first : { ...first, selectionSets: [...selectionSets] };
  });
}

/** SameResponseShape: being alike is transitive, so each field is compared only with the first. */
function findDifferentShape(name: string, fields: readonly Field[]): GraphQLError | null {
  const [first, ...others] = fields.filter(({ output }) => output);
  const other = others.find(({ output }) => shapeOf(output) !== shapeOf(first?.output));
  if (!first || !other) return null;
  return conflict(name, `they return conflicting types "${first.output}" and "${other.output}"`, first, other);
}

/** The lists and non-null marks around a leaf's type, or around any type with fields. */
function shapeOf(type: GraphQLType | undefined): string {
  if (isListType(type)) return `[${shapeOf(type.ofType)}]`;
  if (isNonNullType(type)) return `${shapeOf(type.ofType)}!`;
  return isLeafType(type) ? type.name : '{}';
}

function findDifferentFields(name: string, fields: readonly Field[], meet: MayMeet): GraphQLError | null {
  if (fields.every(({ signature }) => signature === fields[0]?.signature)) return null;
  for (const [index, one] of fields.entries()) {
    const other = fields.find(({ signature }, at) => at > index && signature !== one.signature && meet(index, at));
    if (!other) continue;
    const [first, second] = [one.node.name.value, other.node.name.value];
    const reason =
      first === second ? 'they have differing arguments' : `"${first}" and "${second}" are different fields`;
    return conflict(name, reason, one, other);
  }
  return null;
}

/** Words it as GraphQL.js does, without the path to the two fields: their locations show it. */
function conflict(name: string, reason: string, one: Field, other: Field): GraphQLError {
  const advice = 'Use different aliases on the fields to fetch both if this was intentional.';
  return new GraphQLError(`Fields "${name}" conflict because ${reason}. ${advice}`, { nodes: [one.node, other.node] });
}

/** Which objects may be the same: never those of two object types, always any others. */
function meetingOf(fields: readonly Field[], mayMeet: MayMeet): MayMeet {
  if (fields.length === 1) return always;
  const types = new Set(fields.map(({ type }) => type).filter(isObjectType));
  if (mayMeet === always && types.size < 2) return always;

  const size = fields.length;
  const matrix = new Uint8Array(size * size);
  for (const [index, one] of fields.entries()) {
    for (const [at, other] of fields.entries()) {
      const isApart = one.type !== other.type && isObjectType(one.type) && isObjectType(other.type);
      if (!isApart && mayMeet(one.parent, other.parent)) matrix[index * size + at] = 1;
    }
  }
  return (one, other) => matrix[one * size + other] === 1;
}
