/** The head of the history's chain: the number of its seal, and its hash. */
export type Head = { readonly number: number; readonly head: Buffer };

/** Such as `42-9f86d081…`. */
export const formatHead = ({ number, head }: Head): string => `${number}-${head.toString('hex')}`;

/** @returns undefined if the text is no head */
export function parseHead(text: string): Head | undefined {
  const [, number, head] = /^([1-9]\d{0,14})-([0-9a-f]{64})$/.exec(text) ?? [];
  return number && head ? { number: Number(number), head: Buffer.from(head, 'hex') } : undefined;
}
