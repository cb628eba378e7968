import type { ClientBase } from 'pg';
import type { Unit, User, UserOutline } from './document.ts';
import type { Problem } from './problem.ts';
import { type Entry, forRows } from './rows.ts';
import type { ExistingUnit, PlacedUnit } from './units.ts';
import type { ExistingUser } from './users.ts';

/** The ids of units by organization and external identifier. */
export type UnitIds = ReadonlyMap<string, string>;

/** All units that the users refer to, of the document and of the database; what is missing is nowhere. */
export async function readAccessibleUnits(
  client: ClientBase,
  users: readonly Entry<UserOutline>[],
  units: readonly PlacedUnit<Partial<Unit>>[],
  existingUnits: readonly ExistingUnit[],
): Promise<UnitIds> {
  const ids = new Map<string, string>();
  for (const [index, { organizationId, unit }] of units.entries()) {
    const id = existingUnits[index]?.id;
    const { externalIdentifier } = unit;
    if (id !== undefined && externalIdentifier !== undefined) ids.set(key(organizationId, externalIdentifier), id);
  }
  const elsewhere = new Map<string, object>();
  for (const { organizationId, value } of users) {
    for (const identifier of value.accessibleUnits) {
      if (identifier === undefined || ids.has(key(organizationId, identifier))) continue;
      elsewhere.set(key(organizationId, identifier), {
        organization_id: organizationId,
        external_identifier: identifier,
      });
    }
  }
  const found = await forRows<{ organization_id: string; external_identifier: string; id: string }>(
    client,
    [...elsewhere.values()],
    `select u.organization_id, u.external_identifier, u.id
     from jsonb_to_recordset($1) as given (organization_id uuid, external_identifier text)
     join app_public.units u
       on u.organization_id = given.organization_id and u.external_identifier = given.external_identifier`,
  );
  for (const unit of found) ids.set(key(unit.organization_id, unit.external_identifier), unit.id);
  return ids;
}

export function findAccessProblems(users: readonly Entry<UserOutline>[], unitIds: UnitIds): Problem[] {
  return users.flatMap(({ organizationId, value, path }) =>
    value.accessibleUnits.flatMap((identifier, position) =>
      identifier === undefined || unitIds.has(key(organizationId, identifier))
        ? []
        : [{ path: [...path, 'accessibleUnits', position], message: 'names no unit of this organization' }],
    ),
  );
}

/** Adds what was not granted yet. */
export async function writeAccess(
  client: ClientBase,
  users: readonly Entry<User>[],
  existing: readonly ExistingUser[],
  unitIds: UnitIds,
): Promise<void> {
  const rows = users.flatMap(({ organizationId, value }, index) =>
    value.accessibleUnits.map((identifier) => ({
      organization_id: organizationId,
      user_id: existing[index]?.id,
      unit_id: unitIds.get(key(organizationId, identifier)),
    })),
  );
  await forRows(
    client,
    rows,
    `insert into app_hidden.unit_access (organization_id, user_id, unit_id)
     select organization_id, user_id, unit_id
     from jsonb_to_recordset($1) as given (organization_id uuid, user_id uuid, unit_id uuid)
     on conflict do nothing`,
  );
}

const key = (organizationId: string, externalIdentifier: string) => `${organizationId} ${externalIdentifier}`;
