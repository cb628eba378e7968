import type { PoolClient } from 'pg';

/** Ends a grant and with it every token below it, from the next request on, on every node. Ended already is fine. */
export async function endGrant(database: PoolClient, grantId: string): Promise<void> {
  await database.query({ name: 'end_grant', text: 'delete from oauth.grants where id = $1', values: [grantId] });
}
