import type { TestDatabase } from '../../support/database.ts';

/** What is logged when nothing had expired. */
export const nothing = {
  accessTokens: 0,
  refreshTokens: 0,
  grants: 0,
  authorizationCodes: 0,
  sessions: 0,
  throttles: 0,
  idempotencyKeys: 0,
  changes: 0,
  months: 0,
  newMonths: 0,
  feedDays: 0,
  newFeedDays: 0,
  deliveries: 0,
};

export async function countIn({ owner }: TestDatabase, table: string): Promise<number> {
  const { rows } = await owner.query(`select count(*)::int as count from oauth.${table}`);
  return rows[0].count;
}
