import type { ClientBase } from 'pg';
import type { Unit } from './document.ts';
import type { Entry } from './rows.ts';
import { sync } from './sync.ts';
import type { UnitOf } from './unitTree.ts';

/**
 * Adds units, moves and renames those that differ; parents stand before their children.
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
