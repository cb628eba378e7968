import type { ClientBase } from 'pg';
import type { Unit } from './document.ts';
import { forRows, rowsOf } from './rows.ts';
import type { UnitOf } from './unitTree.ts';

/** A unit of the document in its organization; parents stand before their children. */
export type PlacedUnit<T extends Partial<Unit> = Unit> = { readonly organizationId: string; readonly unit: UnitOf<T> };

export function unitsOf<T extends Partial<Unit>>(
  organizations: readonly { readonly units: readonly UnitOf<T>[] }[],
  organizationIds: readonly (string | null)[],
): PlacedUnit<T>[] {
  return organizations.flatMap(({ units }, index) => {
    const organizationId = organizationIds[index] ?? null;
    return organizationId === null ? [] : units.map((unit) => ({ organizationId, unit }));
  });
}

/** A unit of the document as the database has it, or will. */
export type ExistingUnit = {
  /** A new one's id is made up here. */
  id: string;
  is_new: boolean;
  parent_id: string | null;
  name: string | null;
};

/** In the order of the document's. */
export function readUnits(client: ClientBase, units: readonly PlacedUnit<Partial<Unit>>[]): Promise<ExistingUnit[]> {
  const rows = units.map(({ organizationId, unit }) => ({
    organization_id: organizationId,
    external_identifier: unit.externalIdentifier,
  }));
  return forRows<ExistingUnit>(
    client,
    rows,
    `select coalesce(u.id, app_hidden.uuid_v7()) as id, u.id is null as is_new, u.parent_id, u.name
     from rows from (
       jsonb_to_recordset($1) as (organization_id uuid, external_identifier text)
     ) with ordinality as given (organization_id, external_identifier, position)
     left join app_public.units u
       on u.organization_id = given.organization_id and u.external_identifier = given.external_identifier
     order by given.position`,
  );
}

/**
 * Adds units, moves and renames those that differ, from the top of the tree to its bottom.
 * Whatever hung below what, the chain from a unit's new parent up to the root is by then the document's own, so no move can close a circle.
 */
export async function writeUnits(
  client: ClientBase,
  units: readonly PlacedUnit[],
  existing: readonly ExistingUnit[],
  report: (message: string) => void,
): Promise<void> {
  const ids = new Map(units.map(({ unit }, index) => [unit, (existing[index] as ExistingUnit).id]));
  const wanted = units.map(({ organizationId, unit }, index) => {
    const before = existing[index] as ExistingUnit;
    const row = {
      organization_id: organizationId,
      id: ids.get(unit),
      parent_id: (unit.parent && ids.get(unit.parent)) ?? null,
      external_identifier: unit.externalIdentifier,
      name: unit.name,
      is_new: before.is_new,
    };
    return { row, depth: unit.depth, before };
  });
  const placed = wanted.filter(({ before, row }) => before.is_new || before.parent_id !== row.parent_id);
  const renamed = wanted.filter(({ before, row }) => !before.is_new && before.name !== row.name);

  let done = 0;
  for (const [, changes] of [...Map.groupBy(placed, ({ depth }) => depth)].sort(([one], [other]) => one - other)) {
    const earlier = done;
    const progress = (now: number) => report(`${earlier + now} of ${placed.length} units placed`);
    await forRows(client, rowsOf(changes), placeUnits, progress);
    done += changes.length;
  }
  await forRows(client, rowsOf(renamed), renameUnits);
}

const placeUnits = `
  with given as materialized (
    select * from jsonb_to_recordset($1) as given (
      organization_id uuid, id uuid, parent_id uuid, external_identifier text, name text, is_new boolean)
  ),
  moved as (
    update app_public.units u set parent_id = given.parent_id
    from given
    where u.organization_id = given.organization_id and u.id = given.id and not is_new
  )
  insert into app_public.units (organization_id, id, parent_id, external_identifier, name)
  select organization_id, id, parent_id, external_identifier, name from given where is_new`;

const renameUnits = `
  update app_public.units u set name = given.name
  from jsonb_to_recordset($1) as given (organization_id uuid, id uuid, name text)
  where u.organization_id = given.organization_id and u.id = given.id`;
