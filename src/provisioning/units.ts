import type { ClientBase } from 'pg';
import type { Unit } from './document.ts';
import type { Entry } from './rows.ts';
import { sync } from './sync.ts';
import { type UnitOf, unitPath } from './unitTree.ts';

/** All units of all organizations, as `entriesOf` has users; parents stand before their children. */
export function unitsOf<T extends Partial<Unit>>(
  organizations: readonly { readonly units: readonly UnitOf<T>[] }[],
  organizationIds: readonly (string | null)[],
): Entry<UnitOf<T>>[] {
  return organizations.flatMap(({ units }, index) => {
    const organizationId = organizationIds[index] ?? null;
    if (organizationId === null) return [];
    return units.map((value) => ({
      organizationId,
      value,
      path: ['organizations', index, 'units', ...unitPath(value)],
    }));
  });
}

/**
 * Adds units, moves and renames those that differ.
 * They come from the top of the tree to its bottom: the chain from a unit's new parent up to the root is by then the document's own, so that
 * no move closes a circle.
 */
export async function writeUnits(
  client: ClientBase,
  units: readonly Entry<UnitOf<Unit>>[],
  report: (message: string) => void,
): Promise<void> {
  const rows = units.map(({ value: { externalIdentifier, name, parent }, ...entry }) => ({
    ...entry,
    value: {
      external_identifier: externalIdentifier,
      name,
      parent_external_identifier: parent?.externalIdentifier ?? null,
    },
  }));
  await sync(client, 'units', rows, report);
}
