import type { Entity } from './ids.ts';

/** A value by which rows are ordered, texts by their bytes; null comes before every value. */
type SortValue = string | null;

/** One term of an order. */
type Term = { readonly column: string; readonly isDescending: boolean };

const columns: Readonly<Record<string, (entity: Entity) => readonly SortValue[]>> = {
  PRIMARY_KEY: ({ row }) => [row.id],
  NAME: (entity) => [field(entity, 'name')],
  FULL_NAME: (entity) => [field(entity, 'fullName')],
  EMAIL: (entity) => [field(entity, 'email')?.toLowerCase() ?? null],
  EXTERNAL_IDENTIFIER: (entity) => [field(entity, 'externalIdentifier')],
};

function field({ row }: Entity, name: string): SortValue {
  const value: unknown = (row as unknown as Record<string, unknown>)[name];
  if (value !== null && typeof value !== 'string') throw new Error(`Rows have no text ${name} to be ordered by.`);
  return value;
}

function termOf(value: string): Term {
  const [, column = '', direction] = /^(.*)_(ASC|DESC)$/.exec(value) ?? [];
  if (!(column in columns)) throw new Error(`The oracle does not know the order ${value}.`);
  return { column, isDescending: direction === 'DESC' };
}

/** Values of an `…OrderBy` that the oracle knows. */
export const isKnownOrder = (value: string): boolean => (/^(.*)_(ASC|DESC)$/.exec(value)?.[1] ?? '') in columns;

/** Compares as the list says; equal ones by their keys, in the direction of the first term, so that every order is total. */
export function comparing(orderBy: readonly string[]): (a: Entity, b: Entity) => number {
  const terms = orderBy.map(termOf);
  return (a, b) => {
    for (const { column, isDescending } of terms) {
      const difference = compare(valuesOf(column, a), valuesOf(column, b));
      if (difference !== 0) return isDescending ? -difference : difference;
    }
    return compare([a.row.id], [b.row.id]) * (terms[0]?.isDescending ? -1 : 1);
  };
}

/**
 * What a cursor belongs to: the columns of the order and the key, which is the last unless it is named. So a cursor of an order
 * leads on in the opposite one, too, and in no other.
 */
export function signatureOf(orderBy: readonly string[]): string {
  const names = orderBy.map((value) => termOf(value).column);
  return (names.includes('PRIMARY_KEY') ? names : [...names, 'PRIMARY_KEY']).join();
}

const valuesOf = (column: string, entity: Entity) => columns[column]?.(entity) ?? [];

function compare(a: readonly SortValue[], b: readonly SortValue[]): number {
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? null;
    if (value === other) continue;
    if (value === null) return -1;
    if (other === null) return 1;
    return Buffer.compare(Buffer.from(value), Buffer.from(other));
  }
  return 0;
}
