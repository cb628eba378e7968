import { GraphQLError, type GraphQLErrorExtensions } from 'postgraphile/graphql';

/** An error whose message the client reads; `code` is one of the table in src/graphql/errors.ts. */
export function refusal(
  code: NonNullable<GraphQLErrorExtensions['code']>,
  message: string,
  extensions: GraphQLErrorExtensions = {},
) {
  return new GraphQLError(message, { extensions: { code, ...extensions } });
}
