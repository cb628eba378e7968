import type { ClientBase } from 'pg';
import type { Grant, User } from './document.ts';
import { type Entry, forRows, type Problem } from './rows.ts';
import type { WrittenUser } from './users.ts';

/**
 * Adds missing grants of access and changes the times that differ; the units are already written.
 *
 * @returns the grants on units that the organization does not have
 */
export async function writeAccess(
  client: ClientBase,
  users: readonly Entry<User>[],
  written: readonly WrittenUser[],
): Promise<Problem[]> {
  const rows = users.flatMap(({ organizationId, value, path }, index) =>
    value.accessibleUnits.map((grant, position) => ({
      ...grantRow(organizationId, written[index]?.id, grant),
      path: [...path, 'accessibleUnits', position],
    })),
  );
  const timed = rows.filter(({ has_from, has_until }) => has_from || has_until);
  await forRows(
    client,
    timed,
    `update app_hidden.unit_access a set
       valid_from = case when given.has_from then given.valid_from else a.valid_from end,
       valid_until = case when given.has_until then given.valid_until else a.valid_until end
     from ${givenRows}
     where a.organization_id = given.organization_id and a.user_id = given.user_id and a.unit_id = u.id
       and a.source is not distinct from given.source
       and (
         given.has_from and a.valid_from is distinct from given.valid_from
         or given.has_until and a.valid_until is distinct from given.valid_until)`,
  );
  await forRows(
    client,
    rows,
    `insert into app_hidden.unit_access (organization_id, user_id, unit_id, source, valid_from, valid_until)
     select given.organization_id, given.user_id, u.id, given.source, given.valid_from, given.valid_until
     from ${givenRows}
     on conflict do nothing`,
  );
  return forRows<Problem>(
    client,
    rows,
    `select given.path, 'names no unit of this organization' as message
     from jsonb_to_recordset($1) as given (organization_id uuid, unit text, path jsonb)
     where not exists (
       select from app_public.units u
       where u.organization_id = given.organization_id and u.external_identifier = given.unit)`,
  );
}

const givenRows = `
  jsonb_to_recordset($1) as given (
    organization_id uuid, user_id uuid, unit text, source text,
    valid_from timestamptz, valid_until timestamptz, has_from boolean, has_until boolean)
  join app_public.units u on u.organization_id = given.organization_id and u.external_identifier = given.unit`;

/** A time that is left out stays; null clears it. */
const grantRow = (
  organizationId: string,
  userId: string | undefined,
  { unit, source, validFrom, validUntil }: Grant,
) => ({
  organization_id: organizationId,
  user_id: userId,
  unit,
  source,
  valid_from: validFrom,
  valid_until: validUntil,
  has_from: validFrom !== undefined,
  has_until: validUntil !== undefined,
});
