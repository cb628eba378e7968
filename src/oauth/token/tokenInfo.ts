import type { RequestHandler } from 'express';
import type { Pool } from 'pg';
import { onlyRow } from '../../database/onlyRow.ts';
import { requestIdOf } from '../../http/middleware.ts';
import type { RequestId } from '../../observability/requestFields.ts';
import { oauthSettings } from '../../token/settings.ts';
import { queryOnce } from '../../token/transaction.ts';
import { requireClaims } from '../authenticateBearer.ts';
import type { UserIdOf } from './introspect.ts';

/** `GET /oauth/token/info`: rights and lifetime of the request's bearer token, in Doorkeeper's words. */
export function describeBearer(pool: Pool, userIdOf: UserIdOf): RequestHandler {
  return async (request, response) => {
    const claims = requireClaims(request);
    response.json({
      resource_owner_id: claims.userId === null ? null : userIdOf(claims.userId),
      scope: claims.scopes,
      expires_in: await secondsUntil(pool, claims.expiresAt, requestIdOf(response)),
      application: { uid: claims.clientId },
      created_at: Math.floor(claims.createdAt.getTime() / 1000),
    });
  };
}

/** By the database's clock, from which every time of a token comes. */
async function secondsUntil(pool: Pool, time: Date, requestId: RequestId): Promise<number> {
  const result = await queryOnce<{ seconds: number }>(pool, oauthSettings(null, requestId), {
    name: 'seconds_until',
    text: 'select ceil(extract(epoch from $1::timestamptz - clock_timestamp()))::float8 as seconds',
    values: [time],
  });
  return onlyRow(result).seconds;
}
