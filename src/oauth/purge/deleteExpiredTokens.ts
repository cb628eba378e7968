import type { PoolClient } from 'pg';

/**
 * Deletes some of a grant's expired tokens: more at once than are ever issued at once.
 * So a grant that lives for years does not pile them up.
 */
export async function deleteExpiredTokens(database: PoolClient, grantId: string): Promise<void> {
  for (const table of ['access_tokens', 'refresh_tokens']) {
    await database.query({
      name: `delete_expired_${table}`,
      // What another request is deleting is skipped rather than waited for.
      text: `
        delete from oauth.${table}
        where token_hash in (
          select token_hash from oauth.${table}
          where grant_id = $1 and expires_at <= now()
          order by expires_at
          limit 20
          for update skip locked)`,
      values: [grantId],
    });
  }
}
