import type { PgCodec, PgResource } from 'postgraphile/@dataplan/pg';
import type { GraphQLInputType } from 'postgraphile/graphql';

/** How clients give a value of a type of PostgreSQL, and what becomes of it. */
export type Input = {
  /** Without the `!` of what is required. */
  readonly type: GraphQLInputType;
  /**
   * A value, not null, as the codec of its type takes it.
   *
   * @param path names the value in a message: `visits[3].note`
   * @throws {InputError}
   */
  readonly read: (value: unknown, path: string) => unknown;
};

/** A value of the right GraphQL type that cannot be used all the same. The message is for the client. */
export class InputError extends Error {
  override name = 'InputError';
}

/** As SQL names it. */
export const nameOf = ({ extensions, name }: Pick<PgCodec | PgResource, 'extensions' | 'name'>): string =>
  extensions?.pg ? `${extensions.pg.schemaName}.${extensions.pg.name}` : name;
