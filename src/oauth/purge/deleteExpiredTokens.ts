import type { PoolClient } from 'pg';

/**
 * Deletes some of a grant's expired tokens: more at a time than are issued at a time.
 * So a grant that lives for years does not accumulate them.
 */
export async function deleteExpiredTokens(database: PoolClient, grantId: string): Promise<void> {
  for (const table of ['access_tokens', 'refresh_tokens']) {
    await database.query({
      name: `delete_expired_${table}`,
      // Skips tokens that another request is deleting, rather than waiting.
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
