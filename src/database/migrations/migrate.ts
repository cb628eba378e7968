import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientBase, type Pool } from 'pg';
import { hasCode, StartupError } from '../../errors/errors.ts';
import type { Log } from '../../log.ts';
import type { DatabaseUrls } from '../embedded/embedded.ts';
import { ensureRoles, grantToAuthenticators, namedLogins } from '../roles/roles.ts';
import { type CommittedMigration, findOther, readApplied, readCommitted } from './committedMigrations.ts';
import { preparePartitions } from './partitions.ts';
import { lockTimeoutMs, requireOwnHistory, requireServer, runCommitted } from './runCommitted.ts';
import { announceMigrations } from './watchMigrations.ts';

/**
 * Makes missing roles, applies missing migrations, and brings partitions and rights up to date.
 * Each migration has a transaction of its own. Running servers are notified. A second run changes nothing, and of several at once one works
 * and the others wait.
 *
 * @param lockDeadlineMs how long a migration tries to get its locks; a minute unless given
 * @throws {StartupError} when the owner may not make a missing role, a migration fails, or a schema
 * has the name of one of ours without a record of our migration that makes it
 */
export async function migrate(
  { ownerUrl, ...urls }: DatabaseUrls,
  log: Log,
  { lockDeadlineMs }: { readonly lockDeadlineMs?: number } = {},
): Promise<void> {
  const logins = namedLogins(urls);
  const owner = new Client({ connectionString: ownerUrl, application_name: 'graph-query-service migrate' });
  await owner.connect();
  owner.on('error', (error) => log.debug({ error }, 'lost the connection to the database'));
  try {
    await requireServer(owner);
    await awaitMigrations(owner);
    await requireOwnHistory(owner);
    await refuseForeignSchemas(owner);
    await ensureRoles(owner, logins);
    await runCommitted(owner, ownerUrl, log, lockDeadlineMs);
    await preparePartitions(owner, `${lockTimeoutMs}ms`, log);
    await grantToAuthenticators(owner, logins, log);
    await announceMigrations(owner);
  } finally {
    await owner.end();
  }
}

/** A migration drops objects of its own names, perhaps left by a failed run: the schema must be ours. */
async function refuseForeignSchemas(owner: ClientBase): Promise<void> {
  const makers = makersOfSchemas(await readCommitted());
  const applied = new Set((await readApplied(owner)).map(({ filename }) => filename));
  const { rows: found } = await owner.query<{ name: string }>(
    'select nspname::text as name from pg_namespace where nspname = any ($1) order by nspname',
    [[...makers.keys()]],
  );
  const foreign = found.filter(({ name }) => !applied.has(makers.get(name) ?? ''));
  if (foreign.length === 0) return;
  const names = foreign.map(({ name }) => name).join(', ');
  const remedy = 'Rename what is there (alter schema … rename to …), or use another database.';
  throw new StartupError(`The database has what is not of this service under ${names}; nothing was changed. ${remedy}`);
}

/** Each schema that a migration makes, with the first one's number. */
function makersOfSchemas(files: readonly CommittedMigration[]): Map<string, string> {
  const makers = files.flatMap(({ number, body }) =>
    Array.from(
      body.matchAll(/^create schema (?:if not exists )?(\w+|"[^"]+")/gim),
      ([, name = '']) => [name, number] as const,
    ),
  );
  const unquoted = makers.map(
    ([name, number]) => [name.startsWith('"') ? name.slice(1, -1) : name.toLowerCase(), number] as const,
  );
  return new Map(unquoted.toReversed());
}

/**
 * Polls an advisory lock until no other process migrates; holds it until the connection ends.
 * graphile-migrate itself fails beside another migration. A statement that waits for the lock would hold a snapshot, and an index that
 * is built concurrently waits for all snapshots to end: a deadlock.
 */
export async function awaitMigrations(owner: ClientBase): Promise<void> {
  const text = `select pg_try_advisory_lock(hashtextextended('migrations', 0)) as locked`;
  while (!(await owner.query<{ locked: boolean }>(text)).rows[0]?.locked) await delay(50);
}

/** Whether every committed migration was applied, as far as the authenticator may see. */
export const migrationsAreCurrent = async (database: Pool | ClientBase): Promise<boolean> =>
  (await findMigrationProblem(database)) === null;

/**
 * Why the database differs from the committed migrations, with the remedy; null when it does not.
 * It reads as the authenticator. A newer database counts as current, so that a deployment can migrate before it replaces its servers.
 *
 * @param committed read again unless given
 */
export async function findMigrationProblem(
  database: Pool | ClientBase,
  committed: Promise<readonly CommittedMigration[]> = readCommitted(),
): Promise<string | null> {
  const files = await committed;
  const newest = files.at(-1);
  if (!newest) return null;
  try {
    const applied = await database.query('select from graphile_migrate.migrations where hash = $1', [newest.hash]);
    if (applied.rowCount === 1) return null;
    return findOther(files, await readApplied(database)) ? hasOther : isBehind;
  } catch (error) {
    // SQLSTATE: undefined table or schema: this database is not migrated yet.
    if (hasCode(error, '42P01', '3F000')) return isBehind;
    // Insufficient privilege: not for this role, or its rights were not restored with the database.
    if (hasCode(error, '42501')) return isUnreadable;
    throw error;
  }
}

const isUnreadable = 'Migrations are behind, or the role may not read which ran; run `npm run db:migrate`.';
const isBehind = 'Migrations are behind; run `npm run db:migrate`.';
const hasOther =
  'The database has run other migrations than this version has; docs/upgrading.md says how to carry its data over.';
