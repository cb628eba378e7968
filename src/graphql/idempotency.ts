import { hash } from 'node:crypto';
import { DatabaseError, type Pool } from 'pg';
import { refusal } from '../../plugins/refusal.ts';
import type { Secrets } from '../crypto/secrets.ts';
import { type AccessToken, InvalidTokenError } from '../token/accessTokens.ts';
import type { Claims, TransactionSettings } from '../token/settings.ts';
import type { Answer, ShownSecret } from './answer.ts';
import { type ErrorCode, errorCodes } from './errors.ts';
import type { IdempotencyKey } from './request.ts';
import { openWriting, type Transaction } from './statements.ts';

/** A mutation with an idempotency key, and its token. */
type OnceOnly = {
  readonly idempotencyKey: IdempotencyKey;
  readonly token: AccessToken;
  readonly settings: TransactionSettings;
  /** Whether the mutation may have several fields. */
  readonly isMany: boolean;
};

/**
 * Executes a mutation once, however often it is sent: draft-ietf-httpapi-idempotency-key-header.
 *
 *     begin → claim the key → savepoint, field, … → store the sealed answer → commit
 *
 * All of that is one transaction, so that the answer is kept if and only if its changes are. The claim is an advisory lock, which ends with
 * the transaction. So a second request at the same time does not wait, and the lock of a killed process is released at once. The answer
 * opens only for the same principal, key and request; so another request with the same key is recognized. A webhook's secret in it is
 * replayed for an hour, while it is the present one: an answer is kept for longer than what it shows.
 *
 * @param run executes it in the transaction
 */
export async function executeOnce(
  pool: Pool,
  secrets: Secrets,
  { idempotencyKey: { key, requestHash }, token, settings, isMany }: OnceOnly,
  run: (transaction: Transaction) => Promise<Answer>,
): Promise<Answer> {
  const { organizationId, applicationId, userId } = token.claims;
  const request = JSON.stringify([organizationId, applicationId, userId, settings.role, key, requestHash]);
  const keyHash = hash('sha256', key, 'buffer');
  const transaction = openWriting({ pool, lsnCheck: null }, settings);
  try {
    const claim = isMany && settings.role === 'graph_app' ? claimWithLock : claimAlone;
    const { rows } = await token.withTokenCheck(
      (tokenCheck) => transaction.run({ ...claim, values: [keyHash] }, tokenCheck),
      true,
    );
    const { state, answer } = rows[0] as Claim;
    if (state !== 'claimed') {
      const kept = state === 'answered' ? secrets.openAnswer(answer, request) : null;
      const hiding = { transaction, keyHash, secrets, claims: token.claims };
      const replayed = kept === null ? null : await replay(kept, hiding);
      await transaction.rollBack();
      return replayed ?? refusals[state];
    }

    const answered = await run(transaction);
    if (answered.isTransient) {
      await transaction.rollBack();
      return answered;
    }
    const places = placesOf(answered.body, answered.shownSecrets ?? []);
    const head = [answered.fields?.code ?? '', ...places].join(' ');
    const sealed = secrets.sealAnswer(`${head}\n${answered.body}`, request);
    await transaction.commit({ name: 'keep_answer', text: storeText, values: [keyHash, sealed] });
    return answered;
  } catch (error) {
    await transaction.rollBack();
    // The application and its tokens were deleted after the key was claimed.
    throw error instanceof DatabaseError && error.constraint === ofApplication ? new InvalidTokenError() : error;
  }
}

type Claim = { readonly state: 'claimed' | 'answered' | 'in use' | 'full'; readonly answer: Buffer };

const claimAlone = {
  name: 'claim_idempotency_key',
  text: 'select state, answer_ciphertext as answer from app_hidden.claim_idempotency_key($1)',
};

/** Lock order: several fields are a write of several rows, which locks the organization first. */
const claimWithLock = {
  name: 'claim_idempotency_key_and_lock',
  text: `select state, answer_ciphertext as answer, case when state = 'claimed' then app_hidden.lock_units() end
    from app_hidden.claim_idempotency_key($1)`,
};

const ofApplication = 'idempotency_keys_application_id_fkey';

const storeText = `
  insert into app_hidden.idempotency_keys (organization_id, application_id, principal_id, role, key_hash, answer_ciphertext)
  select app_hidden.current_organization_id(), own, coalesce(app_hidden.current_user_id(), own), current_user, $1, $2
  from app_hidden.current_application_id() as own`;

/** The kept answer: a line with its code and the places of secrets, then the body. */
async function replay(kept: string, hiding: Parameters<typeof hideEndedSecrets>[2]): Promise<Answer> {
  const end = kept.indexOf('\n');
  const [code, ...places] = kept.slice(0, end).split(' ');
  const body = await hideEndedSecrets(kept.slice(end + 1), places, hiding);
  const fields = { statements: 0, isReplayed: true, ...(code && { code }) };
  return { status: 200, body, headers: { 'Idempotency-Replayed': 'true' }, fields };
}

function refusedAnswer(code: ErrorCode, message: string, { status, retryAfter, limit }: Details = {}): Answer {
  const { extensions } = refusal(code, message, limit === undefined ? {} : { limit });
  return {
    status: status ?? errorCodes[code].status,
    body: JSON.stringify({ errors: [{ message, extensions }] }),
    ...(retryAfter && { headers: { 'Retry-After': retryAfter } }),
    fields: { code },
  };
}

type Details = { readonly status?: number; readonly retryAfter?: string; readonly limit?: string };

const refusals = {
  // The answer does not open: it was another request's, or its SECRET_KEY is gone.
  answered: refusedAnswer('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used for another request.'),
  'in use': refusedAnswer('IDEMPOTENCY_KEY_IN_USE', 'The first request with this Idempotency-Key is still under way.', {
    retryAfter: '1',
  }),
  // All answers of an hour expire together.
  full: refusedAnswer(
    'LIMIT_EXCEEDED',
    'Too many answers are kept for Idempotency-Keys; try again later, or without one.',
    {
      status: 429,
      retryAfter: '3600',
      limit: 'idempotencyKeys',
    },
  ),
};

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
async function hideEndedSecrets(
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
export const present = `
  select w.id, w.secret_ciphertext as ciphertext
  from unnest($1::uuid[]) as shown (id)
  join app_public.webhooks w on w.id = shown.id
  join app_hidden.idempotency_keys k on k.key_hash = $2 and k.expires_at > statement_timestamp() + interval '23 hours'`;
