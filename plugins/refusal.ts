import { GraphQLError, type GraphQLErrorExtensions } from 'postgraphile/graphql';

/** An error that a client is meant to read; `code` is one of the table in src/graphql/errors.ts. */
export function refusal(
  code: NonNullable<GraphQLErrorExtensions['code']>,
  message: string,
  extensions: GraphQLErrorExtensions = {},
) {
  return new GraphQLError(message, { extensions: { code, ...extensions } });
}
