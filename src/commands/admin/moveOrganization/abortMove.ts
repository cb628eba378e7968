import type { Cells } from './cells.ts';
import { forgetMove, type Move, readMove } from './moves.ts';
import { dropSource, dropSubscription, stopSubscription } from './replication.ts';
import type { MovedTable } from './tables.ts';

/**
 * Leaves both cells as they were before the move. Each step may be repeated, and the row here goes last: so an abort that was interrupted
 * is finished by the next.
 */
export async function abortMove({ from, to }: Cells, move: Move, tables: readonly MovedTable[]): Promise<void> {
  // The subscription would make new slots for its copies.
  const slotsOfCopies = await stopSubscription(to, move);
  await dropSource(from, move, slotsOfCopies);
  await to.client.query('begin');
  try {
    if (slotsOfCopies !== null) await dropSubscription(to, move);
    const there = await readMove(to, move.organizationId);
    if (there?.moveId === move.moveId && there.state === 'arriving') {
      // The rows never belonged here: the deletion checks no foreign key, and the history does not record it.
      await to.client.query('set local session_replication_role = replica');
      for (const { name, column } of tables)
        await to.client.query(`delete from ${name} where ${column} = $1`, [move.organizationId]);
      await forgetMove(to.client, move);
    }
    await to.client.query('commit');
  } catch (error) {
    await to.client.query('rollback').catch(() => undefined);
    throw error;
  }
  await forgetMove(from.client, move);
}
