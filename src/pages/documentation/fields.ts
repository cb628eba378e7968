import type { GraphQLField, GraphQLNamedType } from 'postgraphile/graphql';

export type Field = GraphQLField<unknown, unknown>;

/** None for a scalar, an enum, a union or an input object. */
export const fieldsOf = (type: GraphQLNamedType): Field[] =>
  'getFields' in type ? (Object.values(type.getFields()) as Field[]) : [];

/** Of a connection, the field with its objects. */
export const nodesOf = (type: GraphQLNamedType): Field | undefined =>
  type.name.endsWith('Connection') ? fieldsOf(type).find(({ name }) => name === 'nodes') : undefined;
