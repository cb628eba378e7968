import { randomUUID } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from 'graphile-migrate';
import { type FileMigration, getLastMigration, runStringMigration } from 'graphile-migrate/dist/migration.js';
import { clearAllPools } from 'graphile-migrate/dist/pgReal.js';
import { parseSettings } from 'graphile-migrate/dist/settings.js';
import { type ClientBase, escapeIdentifier, type PoolClient } from 'pg';
import { hasCode, StartupError } from '../../errors/errors.ts';
import type { Log } from '../../log.ts';
import { onlyRow } from '../pool/transactions.ts';
import { findOther, readApplied, readCommitted, readLints, requireOrder } from './committedMigrations.ts';
import { announceMigrations } from './watchMigrations.ts';

/**
 * Runs the committed migrations that the database lacks, each with a lock timeout and retries.
 * It does as graphile-migrate does, but on the connection that holds the lock of migrations. If this process is killed, PostgreSQL holds
 * the lock until it has ended the running statement. Running servers are notified of each migration.
 *
 * @param owner has waited for the other migrations, and its history is ours (see {@link requireOwnHistory})
 * @throws {StartupError} when one fails, which then has changed nothing; those before it stay
 */
export async function runCommitted(
  owner: ClientBase,
  ownerUrl: string,
  log: Log,
  deadlineMs = lockDeadlineMs,
): Promise<void> {
  const settings = await parseSettings({ connectionString: ownerUrl, logger: quiet });
  const client = owner as PoolClient;
  const last = await getLastMigration(client, settings);
  const context = { database: settings.databaseName };
  const files = await readCommitted();
  const missing = files.filter(({ number }) => !last || number > last.filename);
  // The first ones make the database, which an operator reads in one line.
  if (!last) log.info({ migrations: missing.length }, 'making the database');
  for (const [at, { name: file, number: filename, hash, previous, body, isIntact }] of missing.entries()) {
    log[last ? 'info' : 'debug']({ file, left: missing.length - at - 1 }, 'running a migration');
    const recorded = { filename, hash, previousHash: previous || null } as FileMigration;
    const attempt = async () => {
      if (!isIntact) throw new Error('it was changed after it was committed; put it back, and write another migration');
      await prepare(owner, body, deadlineMs);
      await runStringMigration(client, settings, context, body, filename, recorded);
    };
    const onRefusal = async (tries: number) => {
      if (tries === 1) log.warn({ file }, 'a migration waits for a lock and tries again');
      await interruptAutovacuum(owner);
    };
    await retryOnLocks(attempt, deadlineMs, onRefusal).catch(async (error: unknown) => {
      throw await explain(owner, file, error);
    });
    await announceMigrations(owner);
    migrationProgress.publish({ done: at + 1, total: missing.length } satisfies MigrationProgress);
  }
  // A database that is ahead has the lints of a newer version.
  const isAhead = last !== null && last.filename > (files.at(-1)?.number ?? '');
  if (!isAhead) await makeLints(owner, deadlineMs);
  await owner.query('reset lock_timeout');
}

/**
 * Makes the lints and invariants of `migrations/lints` anew, all or none: they change without a migration.
 * `.gmrc` names the same files, as `afterAllMigrations`, for graphile-migrate's own command line.
 */
async function makeLints(owner: ClientBase, deadlineMs: number): Promise<void> {
  const lints = await readLints();
  let running = '';
  const attempt = async () => {
    await prepare(owner, '', deadlineMs);
    await owner.query('begin');
    for (const { name, text } of lints) {
      running = name;
      await owner.query(text);
    }
    await owner.query('commit');
  };
  const attemptOrNothing = () =>
    attempt().catch(async (error: unknown) => {
      await owner.query('rollback');
      throw error;
    });
  await retryOnLocks(attemptOrNothing, deadlineMs).catch(async (error: unknown) => {
    throw await explain(owner, `lints/${running}`, error);
  });
}

/**
 * Rejects a database that has run other migrations under the numbers of ours, before any change.
 * They may belong to another branch, or to another project: graphile-migrate identifies migrations by number alone.
 *
 * @throws {StartupError} when the files are in no order, or the database has run others
 */
export async function requireOwnHistory(owner: ClientBase): Promise<void> {
  const files = await readCommitted();
  requireOrder(files);
  const other = findOther(files, await readApplied(owner));
  if (!other) return;
  const remedy =
    'Get the files that it ran, or carry its data over as docs/upgrading.md says; in development `npm run db:reset` begins anew.';
  throw new StartupError(
    `The database has run another migration under the number of ${other.name}; nothing was changed. ${remedy}`,
  );
}

/** @throws {StartupError} when the server is older than the migrations need, or the database lacks characters of people's names */
export async function requireServer(owner: ClientBase): Promise<void> {
  const { version, encoding, name } = onlyRow(
    await owner.query<{ version: string; encoding: string; name: string }>(
      `select current_setting('server_version') as version, current_setting('server_encoding') as encoding,
         quote_ident(current_database()) as name`,
    ),
  );
  const problem = versionProblem(version);
  if (problem) throw new StartupError(problem);
  if (encoding === 'UTF8') return;
  const remedy = "Create one with: create database … template template0 encoding 'UTF8' locale 'C'";
  throw new StartupError(`The database ${name} has the encoding ${encoding}, and the service needs UTF8. ${remedy}.`);
}

/** @param version as PostgreSQL says it, such as `15.18 (Debian 15.18-0+deb12u1)` */
export const versionProblem = (version: string): string | null =>
  Number.parseInt(version, 10) < 15
    ? `The server is PostgreSQL ${version}; the service needs 15 to 18. Upgrade it, or name another server in DATABASE_URL.`
    : null;

/**
 * Takes back what an earlier migration has set, sets the lock timeout, and drops invalid indexes, which an earlier attempt may have left.
 * An invalid index would count as the index. A concurrent statement waits for open transactions, and no request waits behind it. After a
 * cancellation it would start from the beginning. Not DISCARD ALL: it would release the lock of migrations.
 */
async function prepare(owner: ClientBase, body: string, deadlineMs: number): Promise<void> {
  const isConcurrent = isWithoutTransaction(body);
  await owner.query('set session authorization default; reset all; discard temp; discard sequences');
  await owner.query(`set lock_timeout = ${isConcurrent ? deadlineMs : lockTimeoutMs}`);
  if (!isConcurrent) return;
  const { rows } = await owner.query<{ schema: string; name: string }>(
    `select n.nspname as schema, c.relname as name
     from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
     where not i.indisvalid and c.relkind = 'i' and strpos($1, c.relname) > 0`,
    [body],
  );
  for (const { schema, name } of rows)
    await owner.query(`drop index concurrently if exists ${escapeIdentifier(schema)}.${escapeIdentifier(name)}`);
}

/**
 * Interrupts autovacuums by a weaker lock, behind which neither reads nor writes wait.
 * PostgreSQL cancels an autovacuum only for a lock that has waited a second (`deadlock_timeout`), and a try is shorter.
 */
async function interruptAutovacuum(owner: ClientBase): Promise<void> {
  const { rows } = await owner.query<{ statement: string }>(
    `select format('lock table %s in share update exclusive mode', l.relation::regclass) as statement
     from pg_locks l join pg_stat_activity a using (pid)
     where a.datname = current_database() and a.usesysid is null and l.granted and l.mode = 'ShareUpdateExclusiveLock'
       and exists (select from pg_class c where c.oid = l.relation and c.relkind = 'r' and pg_has_role(c.relowner, 'usage'))`,
  );
  for (const { statement } of rows) {
    // An autovacuum against wraparound is not cancelled; then the next try fails, too.
    await owner.query(`set lock_timeout = 2000; begin; ${statement}; commit`).catch(() => owner.query('rollback'));
  }
}

async function explain(owner: ClientBase, file: string, error: unknown): Promise<StartupError> {
  const reason = error instanceof Error ? error.message : 'unknown';
  const failed = `The migration ${file} failed and changed nothing: ${reason}`;
  if (!(error instanceof LockDeadlineError)) return new StartupError(failed, { cause: error });
  const lines = [`${failed}. These sessions use tables of the database:`, ...(await lockHolders(owner))];
  return new StartupError(lines.join('\n'), { cause: error.cause });
}

/** Sessions with locks on tables, the oldest transaction first; other roles' age may be unreadable. */
async function lockHolders(owner: ClientBase): Promise<string[]> {
  const { rows } = await owner.query<{ line: string }>(
    `select concat('  pid ', a.pid, ' of ', coalesce(a.usename, 'PostgreSQL'), ' (', a.application_name, ')',
       ', ' || a.state || ' for ' || extract(epoch from clock_timestamp() - a.xact_start)::int || ' s') as line
     from pg_stat_activity a
     where a.datname = current_database() and a.pid <> pg_backend_pid() and exists (
       select from pg_locks l join pg_class c on c.oid = l.relation
       where l.pid = a.pid and l.granted and c.relnamespace <> 'pg_catalog'::regnamespace)
     order by a.xact_start
     limit 5`,
  );
  return rows.map(({ line }) => line);
}

/**
 * Runs a command of graphile-migrate, and resolves when its connections are closed.
 * The command ends its pools without waiting for that. When one of their connections breaks, it ends the process with 1, as happened at
 * times when a server was stopped right after the command.
 *
 * @param owner watches the command's connections, to any database
 * @param command gets a function that names the connections of a URL
 */
export async function runGraphileMigrate<T>(
  owner: ClientBase,
  command: (named: (url: string) => string) => Promise<T>,
): Promise<T> {
  const name = `graphile-migrate ${randomUUID()}`;
  const parameter = new URLSearchParams({ application_name: name });
  try {
    return await command((url) => `${url}${url.includes('?') ? '&' : '?'}${parameter}`);
  } finally {
    clearAllPools();
    while (await hasConnections(owner, name)) await delay(2);
  }
}

/** Its log quotes the migration, and its exceptions have the same information. */
export const quiet = new Logger(() => () => undefined);

/** Whether it runs outside of a transaction, which indexes need that are built concurrently. */
export const isWithoutTransaction = (migration: string): boolean =>
  /^(--! [A-Z].*\n|\n)*--! no-transaction\b/.test(migration);

/** False when the server itself is gone. */
async function hasConnections(owner: ClientBase, name: string): Promise<boolean> {
  const text = 'select from pg_stat_activity where application_name = $1';
  const found = await owner.query(text, [name]).catch(() => null);
  return found !== null && found.rowCount !== 0;
}

/**
 * Lock timeout with retries.
 * While a migration waits for an ACCESS EXCLUSIVE lock on a table, later readers of that table wait behind it. So it waits briefly, lets
 * them pass, and tries again until its deadline.
 */
export const lockTimeoutMs = 200;
const pauseMs = 500;

/** How long a migration tries to get its locks. */
export const lockDeadlineMs = 60_000;

/** The migration got no lock by its deadline; its last try is rolled back. */
class LockDeadlineError extends Error {
  override name = 'LockDeadlineError';
}

/**
 * Runs `attempt` until it gets its locks; a failed attempt must leave nothing behind.
 *
 * @param onRefusal runs right before the next try, so that what it frees is still free
 * @throws {LockDeadlineError} when it gets none by the deadline
 */
export async function retryOnLocks<T>(
  attempt: () => Promise<T>,
  deadlineMs: number,
  onRefusal: (tries: number) => Promise<void> = async () => undefined,
): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      // SQLSTATE lock_not_available, after lock_timeout; deadlock_detected.
      if (!hasCode(error, '55P03', '40P01')) throw error;
      if (performance.now() + pauseMs > deadline) {
        const message = `It had no lock within ${deadlineMs / 1000} s`;
        throw new LockDeadlineError(message, { cause: error });
      }
      await delay(pauseMs);
      await onRefusal(tries);
    }
  }
}

/** How many of the migrations that a database lacks it has run. */
export type MigrationProgress = { readonly done: number; readonly total: number };

/** Publishes a {@link MigrationProgress} after each migration, so that a command can show it to a person. */
export const migrationProgress = channel('graph-query-service:migrations');
