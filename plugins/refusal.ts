import { GraphQLError, type GraphQLErrorExtensions } from 'postgraphile/graphql';

/** An error that a client is meant to read; `code` is part of the interface. */
export function refusal(
  code: 'FORBIDDEN' | 'BAD_USER_INPUT' | 'NOT_FOUND' | 'CONFLICT' | 'LIMIT_EXCEEDED',
  message: string,
  extensions: GraphQLErrorExtensions = {},
) {
  return new GraphQLError(message, { extensions: { code, ...extensions } });
}
