import { setTimeout as delay } from 'node:timers/promises';
import { escapeIdentifier, escapeLiteral } from 'pg';
import { toLibpqUrl } from '../../../connectionUrl.ts';
import { StartupError } from '../../../errors/errors.ts';
import type { Cell, Cells } from './cells.ts';
import type { Move } from './moves.ts';
import type { MovedTable } from './tables.ts';

/**
 * Logical replication of one organization: a publication with a row filter for each table, a slot, and a subscription.
 * Each is made only if it is missing, so that an interrupted command goes on. Only inserts, updates and deletes are published: a row filter
 * does not apply to TRUNCATE.
 */
export async function startReplication(
  { from, to }: Cells,
  { name, organizationId }: Move,
  tables: readonly MovedTable[],
  sourceUrl: string,
): Promise<void> {
  if (!(await exists(from, 'pg_publication', 'pubname', name))) {
    const filtered = tables.map(({ name, column }) => `${name} where (${column} = ${escapeLiteral(organizationId)})`);
    await from.client.query(
      `create publication ${escapeIdentifier(name)} for table ${filtered.join(', ')}
       with (publish = 'insert, update, delete', publish_via_partition_root = true)`,
    );
  }
  if (!(await exists(from, 'pg_replication_slots', 'slot_name', name)))
    await from.client.query("select pg_create_logical_replication_slot($1, 'pgoutput')", [name]);
  if (!(await exists(to, 'pg_subscription', 'subname', name))) await subscribe(to, name, sourceUrl);
  else await to.client.query(`alter subscription ${escapeIdentifier(name)} enable`);
}

/** The URL has a password, which a failing statement would leave in PostgreSQL's log. */
async function subscribe({ client, majorVersion }: Cell, name: string, sourceUrl: string): Promise<void> {
  const asOwner = majorVersion >= 16 ? ', run_as_owner = true' : '';
  const connection = escapeLiteral(toLibpqUrl(sourceUrl));
  await client.query('begin');
  try {
    await client.query(
      'set local log_min_error_statement = panic; set local log_statement = none; set local log_min_duration_statement = -1; set local log_min_duration_sample = -1',
    );
    await client.query(
      `create subscription ${escapeIdentifier(name)} connection ${connection} publication ${escapeIdentifier(name)}
       with (create_slot = false, slot_name = ${escapeLiteral(name)}, disable_on_error = true, synchronous_commit = 'local'${asOwner})`,
    );
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    const message =
      'The other cell cannot reach this database; name an address by --from that PostgreSQL reaches from there.';
    throw new StartupError(`${message} Run the command again, or with --abort.`, { cause: error });
  }
}

export type Progress = {
  readonly tables: number;
  readonly ready: number;
  readonly copied: number;
  readonly behindBytes: number;
};

/** @throws {StartupError} when the subscription has failed */
export async function readProgress({ from, to }: Cells, { name }: Move): Promise<Progress> {
  const { rows } = await to.client.query<Omit<Progress, 'behindBytes'> & { isEnabled: boolean }>(
    `select s.subenabled as "isEnabled",
       (select count(*)::int from pg_subscription_rel r where r.srsubid = s.oid) as tables,
       (select count(*)::int from pg_subscription_rel r where r.srsubid = s.oid and r.srsubstate = 'r') as ready,
       (select coalesce(sum(p.tuples_processed), 0)::int from pg_stat_progress_copy p where p.datname = current_database()) as copied
     from pg_subscription s
     where s.subname = $1 and s.subdbid = (select oid from pg_database where datname = current_database())`,
    [name],
  );
  const [row] = rows;
  if (!row?.isEnabled)
    throw new StartupError(
      'The copy has stopped, and the log of PostgreSQL there says why. Mend it and run the command again, or run it with --abort.',
    );
  const slot = await from.client.query<{ behindBytes: number }>(
    `select pg_wal_lsn_diff(pg_current_wal_flush_lsn(), confirmed_flush_lsn)::float8 as "behindBytes"
     from pg_replication_slots where slot_name = $1`,
    [name],
  );
  return { ...row, behindBytes: slot.rows[0]?.behindBytes ?? Number.POSITIVE_INFINITY };
}

export const isCaughtUp = ({ tables, ready, behindBytes }: Progress): boolean =>
  tables > 0 && ready === tables && behindBytes < maxBehindBytes;

/** Not 0, since other databases of the cluster write to the same log, which the slot takes a moment to read. */
const maxBehindBytes = 1_000_000;

/** Resolves when all that is written now has arrived and is on disk there. @returns false at the deadline */
export async function waitForArrival({ from }: Cells, { name }: Move, timeoutMs: number): Promise<boolean> {
  // A message of its own flushes what others have committed asynchronously.
  await from.client.query("select pg_logical_emit_message(true, 'graph_move', '')");
  const { rows } = await from.client.query<{ lsn: string }>('select pg_current_wal_flush_lsn()::text as lsn');
  const lsn = rows[0]?.lsn;
  for (const deadline = performance.now() + timeoutMs; performance.now() < deadline; await delay(5)) {
    const arrived = await from.client.query(
      'select from pg_replication_slots where slot_name = $1 and confirmed_flush_lsn >= $2',
      [name, lsn],
    );
    if (arrived.rowCount === 1) return true;
  }
  return false;
}

/** Ends the subscription within the transaction that is open there; its slot stays. */
export async function dropSubscription({ client }: Cell, { name }: Move): Promise<void> {
  const subscription = escapeIdentifier(name);
  await client.query(`alter subscription ${subscription} disable`);
  await client.query(`alter subscription ${subscription} set (slot_name = none)`);
  await client.query(`drop subscription ${subscription}`);
}

/** Drops the publication and the slot, and the slots of unfinished copies, once no process reads them. */
export async function dropSource({ client }: Cell, { name }: Move, slotsOfCopies: string | null = null): Promise<void> {
  for (const deadline = performance.now() + 10_000; ; await delay(20)) {
    const { rows } = await client.query<{ name: string; isActive: boolean }>(
      `select slot_name::text as name, active as "isActive" from pg_replication_slots
       where (slot_name = $1 or slot_name like $2) and database = current_database()`,
      [name, slotsOfCopies],
    );
    if (rows.length === 0) break;
    if (performance.now() > deadline)
      throw new StartupError('A slot of the move is still read; run the command again.');
    for (const slot of rows.filter(({ isActive }) => !isActive))
      await client.query('select pg_drop_replication_slot($1)', [slot.name]).catch(ignoreGone);
  }
  await client.query(`drop publication if exists ${escapeIdentifier(name)}`);
}

/** SQLSTATE undefined_object, object_in_use: it has ended by itself, or is read for a moment longer. */
function ignoreGone(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && ['42704', '55006'].includes(String(error.code)))) throw error;
}

/** Stops the subscription, and waits for its processes. @returns the pattern of its copies' slots; null without a subscription */
export async function stopSubscription({ client }: Cell, { name }: Move): Promise<string | null> {
  const { rows } = await client.query<{ pattern: string }>(
    `select format('pg\\_%s\\_sync\\_%%\\_%s', s.oid, (select system_identifier from pg_control_system())) as pattern
     from pg_subscription s
     where s.subname = $1 and s.subdbid = (select oid from pg_database where datname = current_database())`,
    [name],
  );
  const [row] = rows;
  if (!row) return null;
  await client.query(`alter subscription ${escapeIdentifier(name)} disable`);
  for (const deadline = performance.now() + 10_000; performance.now() < deadline; await delay(20)) {
    const running = await client.query('select from pg_stat_subscription where subname = $1 and pid is not null', [
      name,
    ]);
    if (running.rowCount === 0) break;
  }
  return row.pattern;
}

async function exists({ client }: Cell, catalogue: string, column: string, name: string): Promise<boolean> {
  return (await client.query(`select from ${catalogue} where ${column} = $1`, [name])).rowCount === 1;
}
