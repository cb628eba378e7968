import type { ClientBase } from 'pg';

/** Rolls back. @returns whether the connection is lost, and with it the transaction */
export const rollBack = (client: ClientBase): Promise<boolean> =>
  client.query('rollback').then(
    () => false,
    () => true,
  );
