import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import { StartupError } from '../../../errors/errors.ts';
import type { Cells } from './cells.ts';
import { countRows, type TableRows } from './compare.ts';
import { type Move, type MoveRow, moveOf, readMove } from './moves.ts';
import { isCaughtUp, type Progress, readProgress, startReplication } from './replication.ts';
import { readMovedTables } from './tables.ts';

export type Copied = { readonly organization: string; readonly tables: readonly TableRows[] };

/** Copies the organization while it works; resolves when the other cell has caught up. A later run goes on where one was interrupted. */
export async function copyOrganization(
  cells: Cells,
  organization: { readonly id: string; readonly name: string },
  { here, sourceUrl, report }: { here: MoveRow | null; sourceUrl: string; report: (message: string) => void },
): Promise<Copied> {
  const { from, to } = cells;
  const moveId = here?.state === 'copying' ? here.moveId : randomUUID();
  const move = moveOf(organization.id, organization.name, moveId);
  const tables = await readMovedTables(from.client);

  await from.client.query(
    `insert into app_hidden.organization_moves (organization_id, move_id, state, peer) values ($1, $2, 'copying', $3)
     on conflict on constraint organization_moves_pkey do update set move_id = $2, state = 'copying', peer = $3`,
    [move.organizationId, moveId, to.identity],
  );
  await insertArriving(cells, move);
  await waitForTransactions(from.client, report);
  await startReplication(cells, move, tables, sourceUrl);

  for (;;) {
    const progress = await readProgress(cells, move);
    if (isCaughtUp(progress)) break;
    report(describeCopy(progress));
    await delay(100);
  }
  return { organization: organization.name, tables: await countRows(to.client, tables, organization.id) };
}

/** Before any row of the organization is there, the other cell knows that it is not to serve it yet. */
async function insertArriving({ from, to }: Cells, { organizationId, moveId }: Move): Promise<void> {
  await to.client.query(
    `insert into app_hidden.organization_moves (organization_id, move_id, state, peer) values ($1, $2, 'arriving', $3)
     on conflict on constraint organization_moves_pkey do nothing`,
    [organizationId, moveId, from.identity],
  );
  const there = await readMove(to, organizationId);
  if (there?.moveId !== moveId || there.state !== 'arriving')
    throw new StartupError('The organization is being moved there by another command; wait for its end.');
}

/**
 * Waits for transactions that began before the row was there. They have not shared the lock of the move, by which the cut-over waits for
 * those under way.
 */
async function waitForTransactions(client: Client, report: (message: string) => void): Promise<void> {
  const { rows } = await client.query<{ now: string }>('select clock_timestamp()::text as now');
  for (const deadline = performance.now() + 60_000; ; await delay(50)) {
    const older = await client.query<{ pid: number }>(
      `select pid from pg_stat_activity
       where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid() and xact_start < $1`,
      [rows[0]?.now],
    );
    if (older.rowCount === 0) return;
    const pids = older.rows.map(({ pid }) => pid).join(', ');
    if (performance.now() > deadline)
      throw new StartupError(
        `Transactions are open since before the move: end those of the processes ${pids} (select pg_terminate_backend(pid)), and run the command again.`,
      );
    report(`waiting for the transactions of the processes ${pids}`);
  }
}

const describeCopy = ({ tables, ready, copied, behindBytes }: Progress): string =>
  ready < tables
    ? `${ready} of ${tables} tables are copied, ${copied} rows of the present ones`
    : `all ${tables} tables are copied, ${Math.ceil(behindBytes / 1000)} kB of changes are left`;
