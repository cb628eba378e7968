import {
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isListType,
  isObjectType,
} from 'postgraphile/graphql';

export type DomainType = GraphQLObjectType | GraphQLInterfaceType;

/**
 * The domain model: the types that implement `Node`, which are the rows of tables, and interfaces of them.
 * So a table of a later migration is among them by itself.
 */
export const domainTypesOf = (schema: GraphQLSchema): DomainType[] =>
  Object.values(schema.getTypeMap()).filter(isDomainType).sort(byImportance);

const isDomainType = (type: GraphQLNamedType): type is DomainType =>
  (isObjectType(type) || isInterfaceType(type)) && type.getInterfaces().some(({ name }) => name === 'Node');

/** The order of explanation. It decides nothing else: other types follow, by name. */
const order = ['User', 'Unit', 'AccessGrant', 'CardAssignment', 'Card'];

function byImportance(one: GraphQLNamedType, other: GraphQLNamedType): number {
  const rank = ({ name }: GraphQLNamedType) => order.indexOf(name) >>> 0;
  return rank(one) - rank(other) || one.name.localeCompare(other.name);
}

/** The domain type that a field leads to, through a connection or a list; null if it leads to none. */
export function targetOf({ type }: Field): DomainType | null {
  const target = getNamedType(type);
  const nodes = nodesOf(target);
  if (nodes) return targetOf(nodes);
  return isDomainType(target) ? target : null;
}

export const isMany = ({ type }: Field) =>
  nodesOf(getNamedType(type)) !== undefined || isListType(getNullableType(type));

/** Whether an interface has the field, too, which is then described there. */
export const isInherited = (type: GraphQLNamedType, { name }: Field) =>
  isObjectType(type) && type.getInterfaces().some((parent) => parent.name !== 'Node' && name in parent.getFields());

/** Mutations of one subject. `subject` is null for those that belong to no type. */
type MutationGroup = { readonly subject: DomainType | null; readonly mutations: readonly Field[] };

/** Mutations by the type that they change, in the order of the types. */
export function groupMutations(schema: GraphQLSchema): MutationGroup[] {
  const root = schema.getMutationType();
  const types = domainTypesOf(schema);
  const bySubject = Map.groupBy(root ? fieldsOf(root) : [], (mutation) => subjectOf(mutation, types));
  return [...types, null].flatMap((subject) => {
    const mutations = bySubject.get(subject);
    return mutations ? { subject, mutations } : [];
  });
}

/** The type that the payload returns, in one row or in results; else the one that the mutation's name begins with. */
function subjectOf({ name, type }: Field, types: readonly DomainType[]): DomainType | null {
  const results = fieldsOf(getNamedType(type));
  const inside = results.flatMap((field) => fieldsOf(getNamedType(field.type)));
  const returned = [...results, ...inside].map(targetOf).find((target) => target !== null);
  if (returned) return ofInterface(returned);
  const named = types.filter((it) => name.startsWith(it.name.charAt(0).toLowerCase() + it.name.slice(1)));
  return named.sort((one, other) => other.name.length - one.name.length)[0] ?? null;
}

/** `nfcCardCreate` is a mutation of `Card`. */
const ofInterface = (type: DomainType): DomainType => type.getInterfaces().find(({ name }) => name !== 'Node') ?? type;

export type Field = GraphQLField<unknown, unknown>;

/** None for a scalar, an enum, a union or an input object. Mutations are sorted so that each works. */
export function fieldsOf(type: GraphQLNamedType): Field[] {
  const fields = 'getFields' in type ? (Object.values(type.getFields()) as Field[]) : [];
  return type.name === 'Mutation' ? fields.sort(byVerb) : fields;
}

/** A connection's field with its objects. */
export const nodesOf = (type: GraphQLNamedType): Field | undefined =>
  type.name.endsWith('Connection') ? fieldsOf(type).find(({ name }) => name === 'nodes') : undefined;

function byVerb(one: Field, other: Field): number {
  const rank = ({ name }: Field) => verbs.findIndex((verb) => verb.test(name)) >>> 0;
  return rank(one) - rank(other) || one.name.localeCompare(other.name);
}

const verbs = [/Create$/, /Update$/, /(Assign|Grant)$/, /(Unassign|Revoke)$/, /(Redeliver|Secret)$/, /Delete$/];
