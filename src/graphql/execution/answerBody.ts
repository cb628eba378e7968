import type { GraphQLFormattedError } from 'postgraphile/graphql';
import type { Config } from '../../config.ts';
import { DocumentError, maxErrors } from '../document/documentError.ts';
import { limitExceeded } from '../document/limitExceeded.ts';
import { hasMoreRows } from './rows.ts';

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
