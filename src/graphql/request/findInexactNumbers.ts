import { randomUUID } from 'node:crypto';
import { isExactNumber } from '../../../plugins/isExactNumber.ts';
import { refusal } from '../../../plugins/refusal.ts';
import { DocumentError } from '../document/documentError.ts';

/** A number in a variable that JavaScript cannot keep as it was sent. */
export type InexactNumber = {
  readonly variable: string;
  /** Names the value: `$users[3].score`. */
  readonly path: string;
  /** As it was sent. */
  readonly source: string;
};

/**
 * Finds the numbers in JSON that `JSON.parse` would round.
 * For almost every request a regular expression shows that there are none. Otherwise each such number is put in quotes, behind a mark that
 * no client can know, and the text is parsed again. A reviver with `context.source` takes ten times as long, runs for each value, and
 * recurses.
 *
 * @param text valid JSON
 * @param variablesIn where it has the variables, which are an object
 * @throws {DocumentError} `BAD_USER_INPUT` when there are more than a thousand
 */
export function findInexactNumbers(text: string, variablesIn: (parsed: unknown) => unknown): readonly InexactNumber[] {
  const marked = markInexact(text);
  return marked === null ? none : findMarked(variablesIn(JSON.parse(marked)) as Readonly<Record<string, unknown>>);
}

const none: readonly InexactNumber[] = [];

const mark = `${randomUUID()} `;

const maxMarked = 1000;
/** How long a path may be before it goes no deeper. */
const maxPath = 100;

/**
 * A number of 16 characters, or with an exponent; a double keeps all others.
 * It may be part of a string.
 */
const suspicious = /[[:,]\s*(?=-?(?:\d[\d.]{15}|\d[\d.]*[eE]))/g;
const number = /-?[\d.]+(?:[eE][+-]?\d+)?/y;

/** Quotes and marks inexact numbers; null when there are none. */
function markInexact(text: string): string | null {
  suspicious.lastIndex = 0;
  let match = suspicious.exec(text);
  if (!match) return null;
  const parts: string[] = [];
  let copied = 0;
  /** The beginning of the next string, and the end of the last one. */
  let quote = text.indexOf('"');
  let end = 0;
  for (; match; match = suspicious.exec(text)) {
    for (; quote !== -1 && quote < match.index; quote = text.indexOf('"', end)) end = endOfString(text, quote + 1);
    if (end > match.index) {
      suspicious.lastIndex = end;
      continue;
    }
    const start = suspicious.lastIndex;
    number.lastIndex = start;
    const [source = ''] = number.exec(text) ?? [];
    suspicious.lastIndex = number.lastIndex;
    if (isExactNumber(source)) continue;
    if (parts.length >= 2 * maxMarked) throw tooMany();
    parts.push(text.slice(copied, start), `"${mark}${source}"`);
    copied = number.lastIndex;
  }
  return copied === 0 ? null : parts.join('') + text.slice(copied);
}

const tooMany = () =>
  new DocumentError([
    refusal('BAD_USER_INPUT', `More than ${maxMarked} numbers cannot be kept exactly: send them as strings.`),
  ]);

/** The position after a string's closing quote; a quote behind an odd number of backslashes is escaped. */
function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start);
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote + 1;
}

function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text[before - 1] === '\\') before -= 1;
  return (at - before) % 2 === 1;
}

/** Breadth-first, without recursion: variables may be nested too deep for it. */
function findMarked(variables: Readonly<Record<string, unknown>>): InexactNumber[] {
  const found: InexactNumber[] = [];
  const left: { readonly path: string; readonly variable: string; readonly value: object }[] = [];
  const visit = (value: unknown, variable: string, path: string, key: string | number) => {
    const isObject = typeof value === 'object' && value !== null;
    if (!isObject && !(typeof value === 'string' && value.startsWith(mark))) return;
    const longer = path.length > maxPath ? path : `${path}${typeof key === 'number' ? `[${key}]` : key}`;
    if (isObject) left.push({ variable, path: longer, value });
    else found.push({ variable, path: longer, source: value.slice(mark.length) });
  };
  for (const [name, value] of Object.entries(variables)) visit(value, name, '$', name);
  for (const { value, variable, path } of left) {
    if (Array.isArray(value)) for (const [index, item] of value.entries()) visit(item, variable, path, index);
    else for (const [name, item] of Object.entries(value)) visit(item, variable, path, `.${name}`);
  }
  return found;
}
