import type { Client } from 'pg';
import { StartupError } from '../../../errors/errors.ts';
import type { Cell } from './cells.ts';

/** A row of `app_hidden.organization_moves`. */
export type MoveRow = {
  readonly moveId: string;
  readonly state: 'copying' | 'moved' | 'arriving' | 'arrived';
  readonly peer: string;
};

/** An organization that is being moved. */
export type Move = {
  readonly organizationId: string;
  readonly organization: string;
  /** The name of its publication, slot and subscription. */
  readonly name: string;
  readonly moveId: string;
};

export const moveOf = (organizationId: string, organization: string, moveId: string): Move => ({
  ...{ organizationId, organization, moveId },
  name: `graph_move_${moveId.replaceAll('-', '')}`,
});

export async function readMove({ client }: Pick<Cell, 'client'>, organizationId: string): Promise<MoveRow | null> {
  const { rows } = await client.query<MoveRow>(
    'select move_id as "moveId", state, peer from app_hidden.organization_moves where organization_id = $1',
    [organizationId],
  );
  return rows[0] ?? null;
}

/** Keeps a second command off the organization until the session ends. @throws {StartupError} when there is another */
export async function lockMove(client: Client, organizationId: string): Promise<void> {
  const { rows } = await client.query<{ isLocked: boolean }>(
    `select pg_try_advisory_lock(hashtextextended('move-organization ' || $1, 0)) as "isLocked"`,
    [organizationId],
  );
  if (!rows[0]?.isLocked)
    throw new StartupError('Another command is moving this organization right now; wait for its end.');
}

/** Forgets the move: the organization is here as it was before, perhaps having come from another database. */
export async function forgetMove(client: Client, { organizationId, moveId }: Move): Promise<void> {
  await client.query(
    `with kept as (
       update app_hidden.organization_moves set state = 'arrived'
       where organization_id = $1 and move_id = $2 and arrived_at is not null
       returning organization_id)
     delete from app_hidden.organization_moves
     where organization_id = $1 and move_id = $2 and not exists (select from kept)`,
    [organizationId, moveId],
  );
}
