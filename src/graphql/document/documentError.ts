import { inspect } from 'graphql/jsutils/inspect.js';
import type { GraphQLError } from 'postgraphile/graphql';
import { refusal } from '../../../plugins/refusal.ts';
import type { Config } from '../../config.ts';
import { limitMeaning } from '../../variables.ts';

/** The document is refused before execution. */
export class DocumentError extends Error {
  readonly errors: readonly GraphQLError[];
  /** How many errors there were, as words; the answer has some of them. */
  readonly total: string;

  constructor(errors: readonly GraphQLError[], total = countOf(errors.length)) {
    super('document refused');
    this.errors = errors;
    this.total = total;
  }
}

/** How many errors an answer has at most; one more says how many there were. */
export const maxErrors = 20;

/** How many errors are looked for where each costs as much as the first: a stack, and names to suggest. */
export const maxCounted = 100;

const countOf = (count: number) => count.toLocaleString('en');

/** Collects the first errors of a document, and counts the others, of which no message is made. */
export class ErrorList {
  readonly #errors: GraphQLError[] = [];
  #total = 0;

  add(createError: () => GraphQLError): void {
    if (this.#total++ < maxErrors) this.#errors.push(createError());
  }

  /** @throws {DocumentError} when there have been so many that looking for more would take long */
  addDear(createError: () => GraphQLError): void {
    this.add(createError);
    if (this.#total > maxCounted) throw new DocumentError(this.#errors, `more than ${countOf(maxCounted)}`);
  }

  /** @throws {DocumentError} when there are errors */
  throwIfAny(): void {
    if (this.#total > 0) throw new DocumentError(this.#errors, countOf(this.#total));
  }
}

/** How many characters of a value, or of a name, an error repeats. */
export const maxExcerpt = 100;

/** A value as GraphQL.js prints it in errors, or its beginning. */
export const excerptOf = (value: unknown): string => cut(inspect(headOf(value, 0)));

const cut = (text: string) => (text.length > maxExcerpt + 2 ? `${text.slice(0, maxExcerpt)}…` : text);

/** As much of a value as can be seen in an excerpt. GraphQL.js prints ten items of a list, and how many more there are. */
function headOf(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.length > maxExcerpt ? `${value.slice(0, maxExcerpt)}…` : value;
  if (typeof value !== 'object' || value === null || depth > maxShownDepth) return value;
  if (Array.isArray(value)) {
    const items = value.slice(0, maxShownItems).map((item) => headOf(item, depth + 1));
    items.length = value.length;
    return items;
  }
  const head: Record<string, unknown> = {};
  let left = maxExcerpt;
  for (const name in value) {
    if (left <= 0) break;
    left -= name.length + 1;
    Object.defineProperty(head, name.slice(0, maxExcerpt), {
      value: headOf(value[name as keyof typeof value], depth + 1),
      enumerable: true,
    });
  }
  return head;
}

const maxShownItems = 10;
const maxShownDepth = 2;

/** A message of GraphQL.js without the end of the long value with which it ends. */
export function withoutEndOf(value: unknown, message: string): string {
  if (message.length <= maxExcerpt) return message;
  const excerpt = excerptOf(value);
  const at = excerpt.endsWith('…') ? message.indexOf(excerpt.slice(0, -1)) : -1;
  return at === -1 ? message : message.slice(0, at) + excerpt;
}

/**
 * A message without the end of what is long in it: a text in quotes, or a run without spaces.
 * Messages of GraphQL.js repeat whole names, those of a function in SQL what its author puts into them.
 */
export function shortened(message: string): string {
  if (message.length <= maxExcerpt) return message;
  const short = message.replace(quotedOrRun, cut);
  return short.length > maxMessage ? `${short.slice(0, maxMessage)}…` : short;
}

const quotedOrRun = /"(?:[^"\\]|\\.)*"?|[^\s"]+/gs;
const maxMessage = 1000;

type Limit = keyof Config['limits'];

/** The refusal of a request that exceeds a limit: it says how much is allowed, and what to ask for instead. */
export function limitExceeded(limit: Limit, max: number): GraphQLError {
  const allowed = limitMeaning(limit).replace(
    /^Most (.*) that (an?) (\w+) may (\w+)\..*/,
    (_, what: string, article: string, subject: string, verb: string) =>
      `${article === 'an' ? 'An' : 'A'} ${subject} may ${verb} at most ${max.toLocaleString('en')} ${what}`,
  );
  return refusal('LIMIT_EXCEEDED', `${allowed}: ${advice[limit]}.`, { limit });
}

/** The remedy for a client; the table of docs/for-a-client.md has the same. */
export const advice: Readonly<Record<Limit, string>> = {
  body: 'send fewer rows of a sync at once',
  document: 'put values into variables',
  tokens: 'use fragments, or split the document',
  depth: 'ask for a deep tree in parts',
  aliases: 'filter by ids or externalIdentifiers',
  rootFields: 'use a sync instead of many mutations',
  directives: 'split the document',
  fields: 'split the document; a fragment counts each time that it is used',
  connections: 'split the document',
  rows: 'ask for smaller pages, since nested pages multiply',
  bytes: 'ask for smaller pages or fewer fields',
};
