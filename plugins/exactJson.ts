import { isExactNumber, mayBeInexact } from './isExactNumber.ts';

/**
 * JSON whose numbers are written again as they were read (ECMAScript 2026, `JSON.rawJSON`).
 * A number that a double cannot keep would change in the answer.
 */
export function exactJson(text: string): unknown {
  if (!mayBeInexact.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) => {
    const source = typeof value === 'number' ? context?.source : undefined;
    return source === undefined || isExactNumber(source) ? value : rawJson(source);
  });
}

const { rawJSON: rawJson } = JSON as typeof JSON & { rawJSON(text: string): unknown };
