import type { PgCodec, PgResource } from 'postgraphile/@dataplan/pg';
import type { GraphQLInputType } from 'postgraphile/graphql';

/** How clients give a value of a PostgreSQL type, and how it is converted. */
export type Input = {
  /** The type without the `!` of a required one. */
  readonly type: GraphQLInputType;
  /**
   * Converts a value, not null, to the form for the codec of its type.
   *
   * @param path names the value in a message: `visits[3].note`
   * @throws {InputError}
   */
  readonly read: (value: unknown, path: string) => unknown;
};

/** A value of the right GraphQL type that cannot be used. The message is for the client. */
export class InputError extends Error {
  override name = 'InputError';
}

/** The name in SQL. */
export const nameOf = ({ extensions, name }: Pick<PgCodec | PgResource, 'extensions' | 'name'>): string =>
  extensions?.pg ? `${extensions.pg.schemaName}.${extensions.pg.name}` : name;
