import type { ClientBase } from 'pg';
import type { Unit, User, UserOutline } from './document.ts';
import type { Path, Problem } from './problem.ts';
import { type Entry, forRows } from './rows.ts';
import type { ExistingUser } from './users.ts';

/** Finds units that users refer to, but neither the document nor the database has. */
export async function findAccessProblems(
  client: ClientBase,
  users: readonly Entry<UserOutline>[],
  units: readonly Entry<Partial<Unit>>[],
): Promise<Problem[]> {
  const key = (organizationId: string, identifier: string | undefined) => JSON.stringify([organizationId, identifier]);
  const inDocument = new Set(units.map(({ organizationId, value }) => key(organizationId, value.externalIdentifier)));
  const elsewhere = users.flatMap(({ organizationId, value, path }) =>
    value.accessibleUnits.flatMap((identifier, position) =>
      identifier === undefined || inDocument.has(key(organizationId, identifier))
        ? []
        : [{ organization_id: organizationId, unit: identifier, path: [...path, 'accessibleUnits', position] }],
    ),
  );
  const unknown = await forRows<{ path: Path }>(
    client,
    elsewhere,
    `select given.path
     from jsonb_to_recordset($1) as given (organization_id uuid, unit text, path jsonb)
     where not exists (
       select from app_public.units u
       where u.organization_id = given.organization_id and u.external_identifier = given.unit)`,
  );
  return unknown.map(({ path }) => ({ path, message: 'names no unit of this organization' }));
}

/** Adds missing grants of access; the units are already written. */
export async function writeAccess(
  client: ClientBase,
  users: readonly Entry<User>[],
  existing: readonly ExistingUser[],
): Promise<void> {
  const rows = users.flatMap(({ organizationId, value }, index) =>
    value.accessibleUnits.map((unit) => ({ organization_id: organizationId, user_id: existing[index]?.id, unit })),
  );
  await forRows(
    client,
    rows,
    `insert into app_hidden.unit_access (organization_id, user_id, unit_id)
     select given.organization_id, given.user_id, u.id
     from jsonb_to_recordset($1) as given (organization_id uuid, user_id uuid, unit text)
     join app_public.units u on u.organization_id = given.organization_id and u.external_identifier = given.unit
     on conflict do nothing`,
  );
}
