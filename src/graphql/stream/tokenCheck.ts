import { setTimeout } from 'node:timers/promises';
import type { Pool } from 'pg';
import { noRequest } from '../../observability/requestFields.ts';
import { withoutCaller } from '../../scheduling/caller.ts';
import { oauthSettings } from '../../token/settings.ts';
import { queryOnce } from '../../token/transaction.ts';

/**
 * Verifies the tokens of streams in batches: a statement every 5 ms at most, for up to 100 tokens, however many events there are.
 * A token is verified by a statement that begins after the call. So it is false if the revocation was acknowledged before. It is false, too,
 * while the organization is not served here: its streams complete, and other organizations' streams are verified by the same statement.
 */
export function createTokenCheck(pool: Pool): (tokenHash: Buffer) => Promise<boolean> {
  const waiting = new Map<string, Waiting>();
  let isRunning = false;

  const verify = async (batch: readonly Waiting[]) => {
    const statement = { name: 'verify_tokens_of_streams', text: areLive, values: [batch.map(({ hash }) => hash)] };
    try {
      const { rows } = await queryOnce<{ isLive: boolean }>(pool, oauthSettings(null, noRequest), statement);
      for (const [index, { resolve }] of batch.entries()) resolve(rows[index]?.isLive === true);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };
  const run = async () => {
    isRunning = true;
    while (waiting.size > 0) {
      await setTimeout(batchMs);
      const batch = [...waiting].slice(0, maxTokens);
      for (const [key] of batch) waiting.delete(key);
      await verify(batch.map(([, token]) => token));
    }
    isRunning = false;
  };

  return (hash) => {
    const key = hash.toString('latin1');
    const token = waiting.get(key) ?? { hash, ...Promise.withResolvers<boolean>() };
    waiting.set(key, token);
    if (!isRunning) void withoutCaller(run);
    return token.promise;
  };
}

type Waiting = PromiseWithResolvers<boolean> & { readonly hash: Buffer };

const batchMs = 5;
const maxTokens = 100;

const areLive = `
  select coalesce((
    select app_hidden.is_served(live.organization_id) from oauth.verify_access_token(token.hash) as live), false) as "isLive"
  from unnest($1::bytea[]) with ordinality as token (hash, place)
  order by place`;
