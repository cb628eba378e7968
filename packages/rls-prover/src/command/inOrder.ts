import type { Ownership } from './ownership.ts';
import type { Table } from './readTables.ts';

/** Sorts tables so that each comes after those to which it refers (topological order). In a cycle, a reference that may be null is left out. */
export function inOrder(tables: readonly Table[], { identity }: Pick<Ownership, 'identity'>): Table[] {
  const known = new Set(tables.map(({ name }) => name));
  const left = [...tables].sort((a, b) => Number(b.name === identity.table) - Number(a.name === identity.table));
  const done = new Set<string>();
  const ordered: Table[] = [];
  while (left.length > 0) {
    const waitsFor = ({ name, foreignKeys }: Table, isStrict: boolean, columns: Table['columns']) =>
      foreignKeys.some(
        ({ references, columns: own }) =>
          references !== name &&
          known.has(references) &&
          !done.has(references) &&
          (isStrict || own.every((column) => columns.some((one) => one.name === column && one.isRequired))),
      );
    const next =
      left.find((table) => !waitsFor(table, true, table.columns)) ??
      left.find((table) => !waitsFor(table, false, table.columns)) ??
      left[0];
    if (!next) break;
    left.splice(left.indexOf(next), 1);
    done.add(next.name);
    ordered.push(next);
  }
  return ordered;
}
