import { type DocumentNode, type GraphQLFormattedError, Kind, print, visit } from 'postgraphile/graphql';
import type { Config } from '../../config.ts';
import type { Secrets } from '../../crypto/secrets.ts';
import type { Encoded } from '../../http/compression.ts';
import type { RequestFields } from '../../observability/requestFields.ts';
import type { Claims } from '../../token/settings.ts';
import { DocumentError, maxErrors } from '../document/documentError.ts';
import { limitExceeded } from '../document/limitExceeded.ts';
import type { ErrorCode } from '../errors.ts';
import { hasMoreRows, type Transaction } from './statements.ts';

/** The HTTP status and the JSON text of an answer, and its fields for log and metrics. */
export type Answer = {
  readonly status: number;
  readonly body: string;
  /** The body in its encoding, if it is encoded already; then there is no text. */
  readonly encoded?: Encoded;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the same operation may succeed later, since the failure was not its own fault. */
  readonly isTransient?: boolean;
  /** The webhooks' secrets in the body. */
  readonly shownSecrets?: readonly ShownSecret[];
  readonly fields?: Pick<RequestFields, 'code' | 'statements' | 'planningMs' | 'server' | 'isReplayed'>;
};

/** Whether one of the errors is no fault of the operation, which may succeed later. */
export const isTransient = (errors: readonly GraphQLFormattedError[]) =>
  errors.some(({ extensions }) => transientCodes.has(extensions?.code));

/** The codes of failures that are no fault of the operation. */
const transientCodes: ReadonlySet<unknown> = new Set<ErrorCode>(['INTERNAL', 'TIMEOUT', 'UNAVAILABLE']);

/**
 * The text of an answer, within the limits.
 * The answer to a mutation may have any number of rows; if it has too many bytes, it has only errors.
 *
 * @throws {DocumentError} when a query has too many rows or bytes
 */
export function toLimitedBody(
  data: string | null | undefined,
  presented: readonly GraphQLFormattedError[],
  isQuery: boolean,
  limits: Config['limits'],
): string {
  // Reading a rope flattens it (V8), so only the whole text is read.
  const body = toBody(data, presented);
  if (isQuery && (hasLimit(presented, 'rows') || hasMoreRows(body, limits.rows)))
    throw new DocumentError([limitExceeded('rows', limits.rows)]);
  if (!hasLimit(presented, 'bytes') && !hasMoreBytes(body, limits.bytes)) return body;
  if (isQuery) throw new DocumentError([limitExceeded('bytes', limits.bytes)]);
  return withoutData(presented, limits.bytes);
}

/** @param total how many errors there were, as words, if they are more than these; the answer has the first, and one that says this */
export function toBody(
  data: string | null | undefined,
  errors: readonly GraphQLFormattedError[],
  total?: string,
): string {
  const hasErrors = errors.length > 0;
  const isWhole = errors.length <= maxErrors && (total === undefined || total === String(errors.length));
  const shown = isWhole ? errors : [...errors.slice(0, maxErrors), moreThanShown(errors, total)];
  const members = [data !== undefined && `"data":${data}`, hasErrors && `"errors":${JSON.stringify(shown)}`];
  return `{${members.filter(Boolean).join(',')}}`;
}

function moreThanShown(errors: readonly GraphQLFormattedError[], total = errors.length.toLocaleString('en')) {
  const shown = Math.min(errors.length, maxErrors);
  const message = `There are ${total} errors; the first ${shown} of them are shown.`;
  return { message, extensions: { code: errors[0]?.extensions?.code } };
}

const hasLimit = (errors: readonly GraphQLFormattedError[], limit: 'rows' | 'bytes') =>
  errors.some(({ extensions }) => extensions?.limit === limit);

/** A UTF-16 code unit takes three bytes at most, so most answers need not be scanned. */
const hasMoreBytes = (body: string, max: number) => body.length * 3 > max && Buffer.byteLength(body) > max;

/** The answer to a committed mutation whose data has too many bytes: a note of that, and the failures. */
function withoutData(errors: readonly GraphQLFormattedError[], maxBytes: number): string {
  const { message, extensions } = limitExceeded('bytes', maxBytes);
  const tooLong = { message: `${message} What the mutation changed stays changed; select less of it.`, extensions };
  const others = errors.filter((error) => !hasLimit([error], 'bytes'));
  const body = toBody('null', [tooLong, ...others]);
  return hasMoreBytes(body, maxBytes) ? toBody('null', [tooLong]) : body;
}

/** A readable length of a log line. */
const maxCharacters = 4000;

/** Redaction: only the document's names, no literal, default, comment or client-chosen alias. */
export function documentWithoutValues(document: DocumentNode): string {
  const outline = visit(document, {
    Field: ({ alias: _alias, ...field }) => field,
    VariableDefinition: ({ defaultValue: _value, ...definition }) => definition,
    Argument: (argument) => ({ ...argument, value: argument.value.kind === Kind.VARIABLE ? argument.value : blank }),
  });
  return shortened(print(outline).replace(/\s+/g, ' '));
}

const blank = { kind: Kind.ENUM, value: '_' } as const;

/** Redaction: SQL, or a plan of it, with `?` for each literal; parameters keep their numbers. */
export function sqlWithoutValues(sql: string): string {
  return shortened(
    sql
      .replace(tokens, (token, literal) => (literal === undefined ? token : '?'))
      .replace(/\s+/g, ' ')
      .trim(),
  );
}

/**
 * Names, parameters and parts of a plan, which stay; then literals: texts and numbers.
 * Dollar-quoted texts and a text without an end match, too.
 */
const tokens =
  /"(?:[^"]|"")*"|\$\d+|\b(?:Init|Sub)Plan \d+|\b(?!e')[a-z_]\w*|(e?'(?:[^'\\]|''|\\.)*(?:'|$)|\$(\w*)\$[\s\S]*?(?:\$\2\$|$)|\d[\d.]*(?:e[+-]?\d+)?)/gi;

const shortened = (text: string) => (text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text);

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
