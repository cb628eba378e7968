import type { PoolClient } from 'pg';

/** Revokes a grant with all its tokens, from the next request on, on every node. Idempotent. */
export async function revokeGrant(database: PoolClient, grantId: string): Promise<void> {
  await database.query({ name: 'end_grant', text: 'delete from oauth.grants where id = $1', values: [grantId] });
}
