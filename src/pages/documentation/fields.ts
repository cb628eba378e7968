import type { GraphQLField, GraphQLNamedType } from 'postgraphile/graphql';

export type Field = GraphQLField<unknown, unknown>;

/** None for a scalar, an enum, a union or an input object. Mutations are sorted so that each works. */
export function fieldsOf(type: GraphQLNamedType): Field[] {
  const fields = 'getFields' in type ? (Object.values(type.getFields()) as Field[]) : [];
  return type.name === 'Mutation' ? fields.sort(byVerb) : fields;
}

const verbs = [/Create$/, /Update$/, /(Assign|Grant)$/, /(Unassign|Revoke)$/, /(Redeliver|Secret)$/, /Delete$/];

function byVerb(one: Field, other: Field): number {
  const rank = ({ name }: Field) => verbs.findIndex((verb) => verb.test(name)) >>> 0;
  return rank(one) - rank(other) || one.name.localeCompare(other.name);
}

/** A connection's field with its objects. */
export const nodesOf = (type: GraphQLNamedType): Field | undefined =>
  type.name.endsWith('Connection') ? fieldsOf(type).find(({ name }) => name === 'nodes') : undefined;
