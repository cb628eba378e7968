/** The kinds of objects in the data set that have a key of their own. */
export type Kind = keyof typeof digits;

const digits = { organization: 1, application: 2, user: 3, unit: 4, card: 5, cardAssignment: 6 };

/** The key of the n-th object of a kind, which needs no look-up: a UUID version 7, in the order of the numbers. */
export function keyOf(kind: Kind, number: number): string {
  return prefixOf(kind) + number.toString(16).padStart(12, '0');
}

/** The same in SQL, of a number that the expression gives. */
export function keyInSql(kind: Kind, expression: string): string {
  return `('${prefixOf(kind)}' || lpad(to_hex((${expression})::bigint), 12, '0'))::uuid`;
}

const prefixOf = (kind: Kind) => `01900000-0000-7${digits[kind]}00-8000-`;
