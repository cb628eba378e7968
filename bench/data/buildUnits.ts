import type { Pool } from 'pg';

/** How many units stand at each depth: 500,000 in all, 50 roots. */
export const unitsByDepth = [50, 1250, 12_500, 62_500, 156_250, 267_450] as const;

const otherOrganizations = 4;
const unitsOfOthers = 10_000;
const otherUsers = 10_000;

export type Built = { organizationId: string; applicationId: string; users: Record<Grants, string> };
export type Grants = 'two deep grants' | 'forty grants' | 'every root';

/**
 * Builds one large organization by SQL, others around it, and people with few and many grants. A unit is called by its
 * depth and number, `3-17`; those of one depth are spread evenly over those above.
 */
export async function buildUnits(owner: Pool, report: (line: string) => void): Promise<Built> {
  const organizationId = await insertOrganization(owner, 'Large');
  for (let number = 1; number <= otherOrganizations; number += 1) {
    const other = await insertOrganization(owner, `Other ${number}`);
    await insertUnits(owner, other, 1, unitsOfOthers, 0);
  }
  const start = performance.now();
  for (const [index, count] of unitsByDepth.entries()) {
    await insertUnits(owner, organizationId, index + 1, count, unitsByDepth[index - 1] ?? 0);
  }
  const all = unitsByDepth.reduce((sum, count) => sum + count, 0);
  report(`${all.toLocaleString('en')} units inserted in ${((performance.now() - start) / 1000).toFixed(0)} s`);

  const applicationId = await insertApplication(owner, organizationId);
  const users = {
    'two deep grants': await insertUser(owner, organizationId, ['3-1000', '3-11000']),
    'forty grants': await insertUser(
      owner,
      organizationId,
      Array.from({ length: 40 }, (_, index) => `3-${index * 300}`),
    ),
    'every root': await insertUser(
      owner,
      organizationId,
      Array.from({ length: unitsByDepth[0] }, (_, index) => `1-${index}`),
    ),
  };
  await insertOtherUsers(owner, organizationId);
  await owner.query('vacuum analyze');
  return { organizationId, applicationId, users };
}

async function insertOrganization(owner: Pool, name: string): Promise<string> {
  const { rows } = await owner.query('insert into app_hidden.organizations (name) values ($1) returning id', [name]);
  return rows[0].id;
}

async function insertApplication(owner: Pool, organizationId: string): Promise<string> {
  const { rows } = await owner.query(
    `insert into oauth.applications (organization_id, name, client_id, confidential, scopes)
     values ($1, 'Bench', 'bench', false, '{me}') returning id`,
    [organizationId],
  );
  return rows[0].id;
}

async function insertUnits(owner: Pool, organization: string, depth: number, count: number, above: number) {
  await owner.query(
    `insert into app_public.units (organization_id, parent_id, external_identifier, name)
     select $1, parent.id, $2 || '-' || number, 'Unit ' || $2 || '-' || number
     from generate_series(0, $3::bigint - 1) as number
     left join app_public.units parent
       on parent.organization_id = $1 and parent.external_identifier = ($2::int - 1) || '-' || number * $4 / $3
     order by number`,
    [organization, depth, count, above],
  );
}

async function insertUser(owner: Pool, organizationId: string, units: string[]): Promise<string> {
  const { rows } = await owner.query(
    `with person as (
       insert into app_public.users (organization_id, full_name, email)
       values ($1, 'Person', gen_random_uuid() || '@bench.test') returning organization_id, id
     ),
     granted as (
       insert into app_hidden.unit_access (organization_id, user_id, unit_id)
       select person.organization_id, person.id, u.id
       from person join app_public.units u on u.organization_id = $1 and u.external_identifier = any ($2)
     )
     select id from person`,
    [organizationId, units],
  );
  return rows[0].id;
}

/** Each with three grants, so that unit_access is a table worth an index. */
async function insertOtherUsers(owner: Pool, organizationId: string): Promise<void> {
  await owner.query(
    `with people as (
       insert into app_public.users (organization_id, full_name, email)
       select $1, 'Person ' || number, 'person-' || number || '@bench.test' from generate_series(1, $2::int) as number
       returning organization_id, id
     ),
     numbered as (
       select organization_id, id, row_number() over (order by id) as number from people
     )
     insert into app_hidden.unit_access (organization_id, user_id, unit_id)
     select numbered.organization_id, numbered.id, u.id
     from numbered
     cross join generate_series(0, 2) as nth
     join app_public.units u
       on u.organization_id = $1 and u.external_identifier = '4-' || (numbered.number * 7 + nth * 20011) % $3::int`,
    [organizationId, otherUsers, unitsByDepth[3]],
  );
}
