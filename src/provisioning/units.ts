import type { ClientBase } from 'pg';
import type { PlacedUnit } from './document.ts';
import { type Entry, type Report, sync } from './rows.ts';

/**
 * Adds units, moves and renames those that differ; parents are written before their children.
 * They are written from the top of the tree to the bottom. So the new parent's chain up to the root is already the document's own, and no
 * move closes a cycle.
 */
export async function writeUnits(
  client: ClientBase,
  units: readonly Entry<PlacedUnit>[],
  report: Report,
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
