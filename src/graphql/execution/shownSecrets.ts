import type { Secrets } from '../../crypto/secrets.ts';
import type { Claims } from '../../token/claims.ts';
import type { Transaction } from './transaction.ts';

/** A webhook's secret that an answer shows. */
export type ShownSecret = { readonly webhookId: string; readonly secret: string };

/** Where a text of JSON has secrets of webhooks, as words: `<id of the webhook>@<index>`. */
export function placesOf(body: string, shown: readonly ShownSecret[]): readonly string[] {
  return shown.flatMap(({ webhookId, secret }) => {
    const places: string[] = [];
    for (let at = body.indexOf(secret); at !== -1; at = body.indexOf(secret, at + 1)) places.push(`${webhookId}@${at}`);
    return places;
  });
}

/**
 * Puts null in the place of each secret that is no longer the present one of its webhook, or was shown first an hour ago.
 * A secret is shown once. A client that repeats its request since it has lost the answer does so soon.
 *
 * @param transaction of a token of the organization, under whose claims the webhooks and the key are read
 */
export async function hideEndedSecrets(
  body: string,
  places: readonly string[],
  { transaction, keyHash, secrets, claims: { organizationId } }: Hiding,
): Promise<string> {
  if (places.length === 0) return body;
  const shown = places.map((place) => place.split('@')).map(([webhookId = '', at]) => ({ webhookId, at: Number(at) }));
  const ids = [...new Set(shown.map(({ webhookId }) => webhookId))];
  const { rows } = await transaction.run({ name: 'present_secrets', text: present, values: [ids, keyHash] }, null);
  const ciphertexts = new Map((rows as Present[]).map(({ id, ciphertext }) => [id, ciphertext]));
  const isPresent = (webhookId: string, secret: string) => {
    const ciphertext = ciphertexts.get(webhookId);
    try {
      return (
        ciphertext !== undefined && secrets.openWebhookSecret(ciphertext, { organizationId, webhookId }) === secret
      );
    } catch {
      // Its key is gone.
      return false;
    }
  };
  const ended = shown.filter(({ webhookId, at }) => !isPresent(webhookId, body.slice(at, at + secretLength)));
  // From the end on, so that the other places stay.
  return ended
    .sort((one, other) => other.at - one.at)
    .reduce((text, { at }) => `${text.slice(0, at - 1)}null${text.slice(at + secretLength + 1)}`, body);
}

type Hiding = {
  readonly transaction: Transaction;
  readonly keyHash: Buffer;
  readonly secrets: Pick<Secrets, 'openWebhookSecret'>;
  readonly claims: Pick<Claims, 'organizationId'>;
};

type Present = { readonly id: string; readonly ciphertext: Buffer };

/** `whsec_` and the base64 of 24 bytes. */
const secretLength = 38;

/** Policies leave the webhooks of the organization, and the keys of the token. An answer is kept for 24 hours. */
const present = `
  select w.id, w.secret_ciphertext as ciphertext
  from unnest($1::uuid[]) as shown (id)
  join app_public.webhooks w on w.id = shown.id
  join app_hidden.idempotency_keys k on k.key_hash = $2 and k.expires_at > statement_timestamp() + interval '23 hours'`;
