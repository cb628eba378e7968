import type { GraphQLFormattedError } from 'postgraphile/graphql';
import type { Config } from '../config.ts';
import type { Encoded } from '../http/compression.ts';
import type { RequestFields } from '../observability/requestFields.ts';
import { DocumentError, limitExceeded, maxErrors } from './document/documentError.ts';
import type { ErrorCode } from './errors.ts';

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

/** A webhook's secret that an answer shows. */
export type ShownSecret = { readonly webhookId: string; readonly secret: string };

/** Row counter with a limit: throws when the rows exceed it. */
export function createRowCounter(max: number) {
  let rows = 0;
  return (more: number) => {
    rows += more;
    if (rows > max) throw limitExceeded('rows', max);
  };
}

/** Whether an answer, in JSON, has more rows: the objects in the lists of its data. */
export function hasMoreRows(answer: string, max: number): boolean {
  if (answer.length < max * '{"a":1},'.length) return false;
  return looksLikeMoreRows(answer, max) && rowsOf(JSON.parse(answer).data) > max;
}

/** A fast upper bound: counts every possible beginning of a row, even inside texts and errors. */
function looksLikeMoreRows(answer: string, max: number): boolean {
  let rows = 0;
  for (let at = answer.indexOf('{', 1); at !== -1 && rows <= max; at = answer.indexOf('{', at + 1)) {
    const before = answer[at - 1];
    if (before === '[' || before === ',') rows++;
  }
  return rows > max;
}

export function rowsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value).reduce<number>((rows, item) => rows + rowsOf(item), 0);
  return inner + (Array.isArray(value) ? value.filter(isRow).length : 0);
}

/** A list of texts or numbers, such as a column of an array type, has no rows. */
const isRow = (item: unknown) => typeof item === 'object' && item !== null && !Array.isArray(item);
