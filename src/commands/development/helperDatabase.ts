import { hash } from 'node:crypto';
import { DatabaseError, escapeIdentifier, escapeLiteral } from 'pg';
import { withClient } from '../../database/pool/transactions.ts';
import { isForbidden } from '../../database/roles/roles.ts';
import { hasCode, StartupError } from '../../errors/errors.ts';
import { databaseName, otherDatabase } from './migrations.ts';

/**
 * Helper database: one that a command makes beside the developer's own, and drops.
 * Its name is a digest of the other's. PostgreSQL cuts a name at 63 bytes, and so would make `<a long name>_shadow` the name of the
 * developer's own. A comment marks it; a database without the comment stays, unless it is empty.
 */
export function helperUrlOf(ownerUrl: string, purpose: 'shadow' | 'draft'): string {
  return otherDatabase(ownerUrl, `gqs_${purpose}_${hash('sha256', databaseName(ownerUrl)).slice(0, 16)}`);
}

/**
 * Works in a helper, and drops it. An error about a missing right says in which database: a superuser may have prepared the developer's own.
 *
 * @throws {StartupError} when it cannot be made
 */
export async function withHelper<T>(ownerUrl: string, helperUrl: string, work: () => Promise<T>): Promise<T> {
  await createHelper(ownerUrl, helperUrl);
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error && isOfRights(error))) throw error;
    const name = escapeIdentifier(databaseName(helperUrl));
    const hint = `This was in ${name}, which is made from template1 to try migrations in. If only a superuser may do it, let one do it once in template1.`;
    if (!(error instanceof DatabaseError)) throw new StartupError(`${error.message}\n${hint}`, { cause: error });
    error.hint = [error.hint, hint].filter(Boolean).join(' ');
    throw error;
  } finally {
    await dropHelper(ownerUrl, helperUrl);
  }
}

const isOfRights = (error: unknown): boolean =>
  isForbidden(error) || (error instanceof Error && isOfRights(error.cause));

/** Creates it anew. @throws {StartupError} when a database of that name has no mark, or the role may not create databases */
export async function createHelper(ownerUrl: string, helperUrl: string): Promise<void> {
  const name = escapeIdentifier(databaseName(helperUrl));
  await dropHelper(ownerUrl, helperUrl);
  await asRoot(ownerUrl, `create database ${name}`, `comment on database ${name} is ${escapeLiteral(mark)}`);
}

/** Drops it if it is there. @throws {StartupError} when a database of that name has no mark */
export async function dropHelper(ownerUrl: string, helperUrl: string): Promise<void> {
  const name = escapeIdentifier(databaseName(helperUrl));
  const isMarked = await readMark(ownerUrl, databaseName(helperUrl));
  if (isMarked === false && !(await isEmpty(helperUrl))) {
    const remedy = `Rename it, or drop it if a command was killed: drop database ${name}`;
    throw new StartupError(`The database ${name} has no mark of this service, and is left alone. ${remedy}`);
  }
  if (isMarked !== null) await asRoot(ownerUrl, `drop database if exists ${name}`);
}

/** The helper becomes the database itself. */
export async function promoteHelper(ownerUrl: string, helperUrl: string, force: '' | 'with (force)'): Promise<void> {
  const name = escapeIdentifier(databaseName(ownerUrl));
  await asRoot(
    ownerUrl,
    `drop database if exists ${name} ${force}`,
    `alter database ${escapeIdentifier(databaseName(helperUrl))} rename to ${name}`,
    `comment on database ${name} is null`,
  );
}

/** Runs statements about whole databases from another database of the same server. */
async function asRoot(ownerUrl: string, ...statements: string[]): Promise<void> {
  await withClient(otherDatabase(ownerUrl, 'postgres'), async (client) => {
    for (const statement of statements) await client.query(statement);
  }).catch((error: unknown) => {
    throw new StartupError(explain(error), { cause: error });
  });
}

const mark = 'A helper of graph-query-service, which drops it.';

/** Null when there is no such database. */
async function readMark(ownerUrl: string, name: string): Promise<boolean | null> {
  const { rows } = await withClient(otherDatabase(ownerUrl, 'postgres'), (client) =>
    client.query<{ isMarked: boolean }>(
      `select shobj_description(oid, 'pg_database') is not distinct from $2 as "isMarked" from pg_database where datname = $1`,
      [name, mark],
    ),
  );
  return rows[0]?.isMarked ?? null;
}

/** As a command leaves it that was killed before it could mark it: PostgreSQL numbers its own objects below 16384. */
const isEmpty = (url: string): Promise<boolean> =>
  withClient(url, async (client) => {
    const text = ['pg_class', 'pg_proc', 'pg_type', 'pg_namespace'].map(
      (table) => `select from ${table} where oid >= 16384`,
    );
    return (await client.query(text.join(' union all '))).rowCount === 0;
  });

/** SQLSTATE 42501, insufficient privilege, and 55006, object in use. */
function explain(error: unknown): string {
  if (isForbidden(error)) return "DATABASE_URL's role may not create databases; give it CREATEDB.";
  if (hasCode(error, '55006')) return 'Another session uses the database; stop the server and other sessions first.';
  return 'The server refuses to create or drop a database.';
}
