import type { Random } from '../random.ts';
import type { Field, Root } from './checks.ts';
import type { Arguments } from './learn.ts';

/**
 * The same document with other values in its variables: orders, filters and sizes of pages.
 * What was compiled for one value must not answer another.
 */
export function exchangeValues(
  roots: readonly Root[],
  random: Random,
  known: ReadonlyMap<string, Arguments>,
): readonly Root[] {
  return roots.map((root) => ({ ...root, selection: exchanged(root.selection) }));

  function exchanged(fields: readonly Field[]): Field[] {
    return fields.map((field) => {
      if (field.kind === 'forward' || field.kind === 'call') return { ...field, selection: exchanged(field.selection) };
      if (field.kind !== 'connection') return field;
      const { orders = [], filters = [] } = known.get(field.source) ?? {};
      return {
        ...field,
        page: Object.fromEntries(Object.keys(field.page).map((name) => [name, 1 + random.below(5)])),
        orderBy: field.orderBy.length > 0 ? random.pick(orders.filter(({ length }) => length > 0)) : field.orderBy,
        filters: field.filters.map(({ argument }) =>
          random.pick(filters.filter((other) => other.argument === argument)),
        ),
        selection: exchanged(field.selection),
      };
    });
  }
}
