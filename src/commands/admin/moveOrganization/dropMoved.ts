import type { Client } from 'pg';
import { StartupError } from '../../../errors/errors.ts';
import type { Cells } from './cells.ts';
import { countRows, type TableRows } from './compare.ts';
import { type Move, readMove } from './moves.ts';
import { dropSource } from './replication.ts';
import { readMovedTables } from './tables.ts';

export type Dropped = {
  readonly organization: string;
  readonly tables: readonly TableRows[];
  /** Deliveries whose receivers have failed until now, and which are given up. */
  readonly undelivered: number;
};

/**
 * Deletes the rows of an organization that has moved, in one transaction. Its history stays, sealed.
 *
 * @throws {StartupError} while the other cell does not serve it, or webhooks have not been sent once
 */
export async function dropMoved({ from, to }: Cells, move: Move): Promise<Dropped> {
  const there = await readMove(to, move.organizationId);
  if (there?.moveId === move.moveId && there.state === 'arriving')
    throw new StartupError('The cut-over is not over: run the command with --cut-over first.');
  await requireSent(from.client, move);
  await dropSource(from, move);

  const { client } = from;
  const { organizationId } = move;
  const tables = await readMovedTables(client);
  await client.query('begin');
  try {
    const counts = await countRows(client, tables, organizationId);
    const pending = await client.query(`${pendingDeliveries} where organization_id = $1 and outcome = 'PENDING'`, [
      organizationId,
    ]);
    // The history and the feed must not record these deletions: the rows live on in the other cell.
    await client.query('set local session_replication_role = replica');
    const beside = ['app_public.webhook_deliveries', 'app_hidden.webhook_positions', 'feed.changes'];
    for (const name of [...beside, 'app_hidden.organization_moves'])
      await client.query(`delete from ${name} where organization_id = $1`, [organizationId]);
    for (const { name, column } of tables)
      await client.query(`delete from ${name} where ${column} = $1`, [organizationId]);
    await client.query('commit');
    return { organization: move.organization, tables: counts, undelivered: pending.rowCount ?? 0 };
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

const pendingDeliveries = 'select from app_public.webhook_deliveries';

/** Requires that webhooks have sent the changes of before the move: this cell sends them. @throws {StartupError} */
async function requireSent(client: Client, { organizationId }: Move): Promise<void> {
  await client.query('begin');
  await client.query("select set_config('graph.organization_id', $1, true)", [organizationId]);
  const { rowCount } = await client.query(
    `select from app_hidden.webhook_positions p
     join app_public.webhooks w on w.organization_id = p.organization_id and w.id = p.webhook_id and w.enabled
     left join feed.last_change() as l on true
     where p.organization_id = $1 and (
       (p.origin = feed.origin() and (l.horizon, l.id) > (p.horizon, p.change_id))
       or exists (
         select from app_public.webhook_deliveries d
         where d.organization_id = p.organization_id and d.webhook_id = p.webhook_id and d.outcome = 'PENDING' and d.attempts = 0))`,
    [organizationId],
  );
  await client.query('rollback');
  if (rowCount !== 0)
    throw new StartupError(
      'Webhooks wait to be sent from here: run the command again when the service has sent them, or disable them.',
    );
}
