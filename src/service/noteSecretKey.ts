import type { Pool } from 'pg';
import { secretKeyCheck } from '../crypto/secretKeyCheck.ts';
import { noRequest } from '../observability/requestFields.ts';
import { oauthSettings } from '../token/settings.ts';
import { queryOnce } from '../token/transaction.ts';

/** Notes in the database by which SECRET_KEY its service seals, unless one is noted: `admin move-organization` compares it. */
export async function noteSecretKey(pool: Pool, key: Buffer): Promise<void> {
  const { salt, checksum } = secretKeyCheck(key);
  await queryOnce(pool, oauthSettings(null, noRequest), {
    text: 'select app_hidden.note_secret_key($1, $2)',
    values: [salt, checksum],
  });
}
