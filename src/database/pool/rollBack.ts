import type { ClientBase } from 'pg';

/** Rolls back. @returns whether the connection is lost, which ends the transaction, too */
export const rollBack = (client: ClientBase): Promise<boolean> =>
  client.query('rollback').then(
    () => false,
    () => true,
  );
