/**
 * Whether a name is twice in an object of this JSON (RFC 7493 section 2.3), after its escapes.
 * `JSON.parse` keeps the last of two members, where another parser keeps the first: the client would ask about one thing, and be answered
 * about another. The text has as many colons outside of strings as members, and the parsed value lacks those that were replaced.
 *
 * @param text valid JSON
 */
export const hasDuplicateNames = (text: string, parsed: unknown): boolean => countColons(text) !== countMembers(parsed);

function countColons(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === ':') count += 1;
    else if (character === '"') at = endOfString(text, at + 1);
  }
  return count;
}

/** The position of a string's closing quote. */
function endOfString(text: string, start: number): number {
  let at = start;
  for (; text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1;
  return at;
}

/** Without recursion: a value may be nested too deep for it. */
function countMembers(parsed: unknown): number {
  let count = 0;
  const left: unknown[] = [parsed];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const inner = Object.values(value);
    if (!Array.isArray(value)) count += inner.length;
    for (const one of inner) left.push(one);
  }
  return count;
}
