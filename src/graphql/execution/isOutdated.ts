import { DatabaseError, type Pool } from 'pg';
import type { GraphQLError } from 'postgraphile/graphql';
import { readMigrations } from '../../database/migrations/watchMigrations.ts';
import { rootOf } from '../errors.ts';
import type { Graph } from '../schema/schema.ts';

/**
 * Optimistic concurrency with migrations: whether one has made the schema of a failed statement stale.
 * The statement was right when the schema was built, and the next one is being built. Called only after errors that may have this cause.
 */
export async function isOutdated(errors: readonly GraphQLError[], pool: Pool, { migrations }: Graph): Promise<boolean> {
  if (!errors.some(mayBeOfMigration)) return false;
  return readMigrations(pool).then(
    (found) => found !== migrations,
    // The readiness watch logs outages.
    () => false,
  );
}

function mayBeOfMigration(error: GraphQLError): boolean {
  const root = rootOf(error);
  return root instanceof DatabaseError && codes.test(root.code ?? '');
}

/**
 * SQLSTATEs that a migration may have caused.
 * Class 42: a named object is missing or has another type. 0A000: a prepared statement would have other columns. 3F000: a schema is
 * missing. XX000: a function was dropped while PostgreSQL looked it up.
 */
const codes = /^(42(?!501)...|0A000|3F000|XX000)$/;
