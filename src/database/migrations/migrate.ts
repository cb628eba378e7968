import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientBase, type Pool } from 'pg';
import { hasCode, StartupError } from '../../errors/errors.ts';
import type { Log } from '../../log.ts';
import type { DatabaseUrls } from '../embedded/embedded.ts';
import { ensureRoles, grantToAuthenticators, namedLogins } from '../roles/roles.ts';
import { type CommittedMigration, findOther, readApplied, readCommitted } from './committedMigrations.ts';
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

/**
 * Makes partitions of the history for the coming months, and the indexes that older ones lack.
 * These indexes are built concurrently. So a migration adds one by `create index … on only audit.changes`, and no writer waits for it,
 * however large the history is.
 */
export async function preparePartitions(owner: ClientBase, lockTimeout: string, log: Log): Promise<void> {
  await createPartitions(owner, lockTimeout, log);
  // An index whose build was interrupted blocks the name.
  for (const { statement } of (await owner.query<Statement>(dropInvalid)).rows) await owner.query(statement);
  for (const { index, partition, name, definition } of (await owner.query<Missing>(missing)).rows) {
    log.info({ index, partition }, 'building an index of the history');
    await owner.query(definition);
    await owner.query(`alter index ${index} attach partition ${name}`);
  }
}

/** A locked history is no failure: the server's purge makes the partitions hourly, too, months ahead. */
async function createPartitions(owner: ClientBase, lockTimeout: string, log: Log): Promise<void> {
  try {
    await owner.query(`begin; set local lock_timeout = '${lockTimeout}'; select audit.create_partitions(); commit`);
  } catch (error) {
    await owner.query('rollback');
    if (!hasCode(error, lockNotAvailable)) throw error;
    log.warn({ error }, 'could not make the next months of the history, since it is in use; the service will');
  }
}

const lockNotAvailable = '55P03';

type Statement = { statement: string };
type Missing = { index: string; partition: string; name: string; definition: string };

const partitions = `pg_inherits p join pg_class c on c.oid = p.inhrelid and p.inhparent = 'audit.changes'::regclass`;

const dropInvalid = `
  select format('drop index concurrently %s', i.indexrelid::regclass) as statement
  from ${partitions}
  join pg_index i on i.indrelid = c.oid
  where not i.indisvalid`;

/** Each index of the parent that a partition lacks. */
const missing = `
  select parent.indexrelid::regclass::text as index, c.oid::regclass::text as partition, format('audit.%I', named) as name,
    regexp_replace(pg_get_indexdef(parent.indexrelid), '^CREATE( UNIQUE)? INDEX \\S+ ON ONLY \\S+',
      format('create\\1 index concurrently if not exists %I on audit.%I', named, c.relname)) as definition
  from pg_index parent
  join pg_class parent_name on parent_name.oid = parent.indexrelid
  cross join ${partitions}
  cross join lateral (select replace(parent_name.relname, 'changes', c.relname) as named) as counterpart
  where parent.indrelid = 'audit.changes'::regclass
    and not exists (
      select from pg_inherits i join pg_index own on own.indexrelid = i.inhrelid
      where i.inhparent = parent.indexrelid and own.indrelid = c.oid)`;
