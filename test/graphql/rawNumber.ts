/** A number that `JSON.stringify` writes as this text, with all its digits (ECMA-262's `JSON.rawJSON`). */
export const rawNumber = (text: string): unknown =>
  (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);
