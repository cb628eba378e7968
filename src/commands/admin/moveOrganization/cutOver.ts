import { setTimeout as delay } from 'node:timers/promises';
import { lockOfOwners, withClient } from '../../../database/pool/transactions.ts';
import { StartupError } from '../../../errors/errors.ts';
import { abortMove } from './abortMove.ts';
import type { Cell, Cells } from './cells.ts';
import { chooseHashes, compareRows, countRows, type TableRows } from './compare.ts';
import { type Move, readMove } from './moves.ts';
import { dropSource, dropSubscription, isCaughtUp, readProgress, waitForArrival } from './replication.ts';
import { type MovedTable, readMovedTables, readSequences } from './tables.ts';

type CutOver = {
  readonly organization: string;
  readonly tables: readonly TableRows[];
  /** How long neither cell served the organization. */
  readonly stoppedForMs: number;
};

/**
 * The cut-over: stops the organization, waits for its last change, compares, and has the other cell serve it.
 *
 *     lock the organization → last change arrived → rows equal → (there: ready, uncommitted) → here: moved → there: commit
 *
 * The lock is an advisory one of this session: if the command is killed before it says `moved`, the organization goes on here at once.
 * Killed after that, neither cell serves it, and neither has written since: the next run finishes. If anything differs or fails, the move
 * is aborted, and the organization goes on here.
 *
 * @throws {StartupError}
 */
export async function cutOver(cells: Cells, move: Move): Promise<CutOver> {
  const { from, to } = cells;
  const tables = await readMovedTables(from.client);
  const here = await readMove(from, move.organizationId);
  if (here?.state === 'moved') return finish(cells, move, tables);
  await requireCaughtUp(cells, move);
  // Reads all once, so that the comparison below finds it in memory.
  const hashed = await chooseHashes(cells, tables);
  await compareRows(cells, hashed, move.organizationId);

  await lockOutCommands(from);
  const startedAt = performance.now();
  let rows: TableRows[];
  try {
    await lockOutRequests(from, move);
    if (!(await waitForArrival(cells, move, arrivalMs)))
      throw new StartupError('The last changes did not arrive in time.');
    const compared = await compareRows(cells, hashed, move.organizationId);
    if (compared.differing.length > 0) throw new StartupError(`Both cells differ in ${compared.differing.join(', ')}.`);
    rows = compared.rows;
    await prepareArrival(to, move);
    await setMoved(from, move);
  } catch (error) {
    await to.client.query('rollback').catch(() => undefined);
    await from.client
      .query(`select pg_advisory_unlock(app_hidden.move_lock($1)), pg_advisory_unlock(${lockOfOwners})`, [
        move.organizationId,
      ])
      .catch(() => undefined);
    throw await aborted(cells, move, tables, error);
  }
  await to.client.query('commit').catch((cause: unknown) => {
    throw new StartupError('It is not known whether the other cell serves it now: run the command again.', { cause });
  });
  const stoppedForMs = Math.round(performance.now() - startedAt);
  await dropSource(from, move);
  return { organization: move.organization, tables: rows, stoppedForMs };
}

/** At 100,000 people the rest takes about a second of the two that the organization may be stopped. */
const arrivalMs = 5000;

/** Finishes a run that was killed between the two commits: no client has written since. */
async function finish(cells: Cells, move: Move, tables: readonly MovedTable[]): Promise<CutOver> {
  const { from, to } = cells;
  const startedAt = performance.now();
  const there = await readMove(to, move.organizationId);
  if (there?.moveId === move.moveId && there.state === 'arriving') {
    await prepareArrival(to, move);
    await to.client.query('commit');
  }
  const stoppedForMs = Math.round(performance.now() - startedAt);
  await dropSource(from, move);
  return {
    organization: move.organization,
    tables: await countRows(to.client, tables, move.organizationId),
    stoppedForMs,
  };
}

async function requireCaughtUp(cells: Cells, move: Move): Promise<void> {
  for (const deadline = performance.now() + 10_000; ; await delay(50)) {
    if (isCaughtUp(await readProgress(cells, move))) return;
    if (performance.now() > deadline)
      throw new StartupError('The other cell has not caught up: run the command without --cut-over, and then again.');
  }
}

/** Commands of the owner write without a token. One that runs may take long; the next ones wait for the cut-over. */
async function lockOutCommands({ client }: Cell): Promise<void> {
  const { rows } = await client.query<{ isLocked: boolean }>(
    `select pg_try_advisory_lock(${lockOfOwners}) as "isLocked"`,
  );
  if (!rows[0]?.isLocked)
    throw new StartupError('Another admin command is changing this database: run the cut-over when it has ended.');
}

/** Waits for the transactions of the organization that are under way; ends the sessions of those that take longer than a second. */
async function lockOutRequests({ client, url }: Cell, { organizationId }: Move): Promise<void> {
  let isLocked = false;
  const locking = client.query('select pg_advisory_lock(app_hidden.move_lock($1))', [organizationId]).finally(() => {
    isLocked = true;
  });
  const ending = withClient(url, async (other) => {
    for (const deadline = performance.now() + cancelAfterMs; !isLocked; await delay(10))
      if (performance.now() > deadline) await other.query(endHolders, [organizationId]);
  });
  await Promise.all([locking, ending]);
}

const cancelAfterMs = 1000;

const endHolders = `
  select pg_terminate_backend(l.pid)
  from pg_locks l, app_hidden.move_lock($1) as key
  where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and l.mode = 'ShareLock'
    and l.database = (select oid from pg_database where datname = current_database())
    and (l.classid::bigint << 32) | l.objid::bigint = key`;

/**
 * Opens a transaction there that ends the subscription and makes the organization ready. Webhooks begin at the end of the feed, since the
 * old cell sends the changes before. Sequences continue after the rows that arrived.
 */
async function prepareArrival(to: Cell, move: Move): Promise<void> {
  const { client } = to;
  await client.query('begin');
  await dropSubscription(to, move);
  await client.query("select set_config('graph.organization_id', $1, true)", [move.organizationId]);
  await client.query(
    `insert into app_hidden.webhook_positions (organization_id, webhook_id, origin, horizon, change_id, at)
     select w.organization_id, w.id, feed.origin(), coalesce(l.horizon, '0'), coalesce(l.id, 0), statement_timestamp()
     from app_public.webhooks w left join feed.last_change() as l on true
     where w.organization_id = $1
     on conflict on constraint webhook_positions_pkey do nothing`,
    [move.organizationId],
  );
  for (const { table, column, sequence } of await readSequences(client))
    await client.query(
      `select setval($1::regclass, greatest(s.last_value, m.maximum)) from ${sequence} s,
         (select max(${column}) as maximum from ${table} where organization_id = $2) m
       where m.maximum >= s.last_value`,
      [sequence, move.organizationId],
    );
  const { rowCount } = await client.query(
    `update app_hidden.organization_moves set state = 'arrived', arrived_at = clock_timestamp()
     where organization_id = $1 and move_id = $2 and state = 'arriving'`,
    [move.organizationId, move.moveId],
  );
  if (rowCount !== 1) throw new StartupError('The other cell no longer knows of the move.');
}

/** By the session that has the lock: if that is gone, the organization is served again, and this fails. */
async function setMoved({ client }: Cell, { organizationId, moveId }: Move): Promise<void> {
  const { rowCount } = await client.query(
    `update app_hidden.organization_moves set state = 'moved' where organization_id = $1 and move_id = $2 and state = 'copying'`,
    [organizationId, moveId],
  );
  if (rowCount !== 1) throw new StartupError('This database no longer knows of the move.');
}

/** Leaves nothing there. @returns what the command ends with */
async function aborted(cells: Cells, move: Move, tables: readonly MovedTable[], cause: unknown): Promise<StartupError> {
  const reason = cause instanceof StartupError ? cause.message : 'The cut-over failed.';
  try {
    await abortMove(cells, move, tables);
    return new StartupError(
      `${reason} The organization goes on here, and nothing is left there. Begin the move again.`,
      { cause },
    );
  } catch (error) {
    // It may have said `moved` before its connection was lost.
    return new StartupError(`${reason} Run the command again; or with --abort, and the organization goes on here.`, {
      cause: error,
    });
  }
}
