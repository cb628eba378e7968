import type { Pool } from 'pg';

/**
 * Has the webhooks sent from this database, such as after the one that it is a copy of was lost.
 *
 * @returns whether it sent none before
 */
export async function takeCharge(owner: Pool): Promise<{ tookCharge: boolean }> {
  const { rows } = await owner.query<{ tookCharge: boolean }>(
    'select app_hidden.take_webhook_charge() as "tookCharge"',
  );
  return { tookCharge: rows[0]?.tookCharge ?? false };
}
