import { Client } from 'pg';
import { keyInSql } from './keys.ts';
import { organizations, type Size, unitsOf } from './sizes.ts';

/**
 * Fills a migrated database by SQL: each user has none to two cards and was granted two subtrees; the first of each organization
 * was granted everything. Triggers rest meanwhile, so that what they keep (ancestors) is written here and what they record is not.
 *
 * @param ownerUrl a superuser's
 */
export async function buildData(ownerUrl: string, size: Size, report: (line: string) => void): Promise<void> {
  const client = new Client({ connectionString: ownerUrl, application_name: 'bench data' });
  await client.connect();
  try {
    await client.query(
      `set session_replication_role = replica; set maintenance_work_mem = '512MB'; set work_mem = '256MB'`,
    );
    for (const [what, statement] of Object.entries(statementsFor(size))) {
      const start = performance.now();
      const { rowCount } = await client.query(statement);
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      report(`${what}: ${(rowCount ?? 0).toLocaleString('en')} rows in ${seconds} s`);
    }
    await client.query('vacuum (freeze, analyze)');
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
}

/** In the order in which they refer to each other. */
function statementsFor(size: Size): Record<string, string> {
  const { users, unitsByDepth } = size;
  const all = organizations * users;
  return {
    organizations: `
      insert into app_hidden.organizations (id, name)
      select ${keyInSql('organization', 'n')}, 'Organization ' || n from generate_series(0, ${organizations - 1}) as n`,
    applications: `
      insert into oauth.applications (organization_id, id, name, client_id, scopes)
      select ${keyInSql('organization', 'n')}, ${keyInSql('application', 'n')}, 'Bench ' || n, 'bench-' || n, '{app,me}'
      from generate_series(0, ${organizations - 1}) as n`,
    users: `
      insert into app_public.users (organization_id, id, external_identifier, full_name, email)
      select ${keyInSql('organization', `n / ${users}`)}, ${keyInSql('user', 'n')}, 'user-' || n, 'Person ' || n, 'person-' || n || '@bench.test'
      from generate_series(0, ${all - 1}) as n`,
    ...Object.fromEntries(
      unitsByDepth.map((_, index) => [`units of depth ${index + 1}`, unitsOfDepth(size, index)] as const),
    ),
    'ancestors of units': `
      insert into app_hidden.unit_ancestors (organization_id, ancestor_id, unit_id)
      select organization_id, unnest(ancestor_ids) as ancestor_id, id from app_public.units order by 1, 2, 3`,
    'grants of units': `
      insert into app_hidden.unit_access (organization_id, user_id, unit_id)
      select ${keyInSql('organization', `n / ${users}`)}, ${keyInSql('user', 'n')},
        ${keyInSql('unit', `n / ${users} * ${unitsOf(size)} + ${unitsByDepth[0]} + (n * 7 + nth * 53) % ${unitsByDepth[1]}`)}
      from generate_series(0, ${all - 1}) as n, generate_series(0, 1) as nth
      where n % ${users} > 0
      union all
      select u.organization_id, ${keyInSql('user', `o * ${users}`)}, u.id
      from generate_series(0, ${organizations - 1}) as o
      join app_public.units u on u.organization_id = ${keyInSql('organization', 'o')} and u.parent_id is null`,
    cards: `
      insert into app_public.cards (organization_id, id, type, name, nfc_identifier, proximity_uuid, major, minor)
      select ${keyInSql('organization', `n / ${users}`)}, ${keyInSql('card', 'n * 2 + nth')}, type, 'Card ' || n || '-' || nth,
        case type when 'NfcCard' then upper(lpad(to_hex(n), 14, '0')) end,
        case type when 'BeaconCard' then ${keyInSql('card', 'n')} end,
        case type when 'BeaconCard' then n % 65536 end,
        case type when 'BeaconCard' then nth end
      from ${cardsOfUsers(all)}
      cross join lateral (select (array['NfcCard', 'BeaconCard', 'IdentificationCode'])[1 + (n + nth) % 3]) as typed (type)`,
    'card assignments': `
      insert into app_public.card_assignments (organization_id, id, user_id, card_id, card_type, is_exclusive)
      select ${keyInSql('organization', `n / ${users}`)}, ${keyInSql('cardAssignment', 'n * 2 + nth')}, ${keyInSql('user', 'n')},
        ${keyInSql('card', 'n * 2 + nth')}, (array['NfcCard', 'BeaconCard', 'IdentificationCode'])[1 + (n + nth) % 3], (n + nth) % 3 <> 2
      from ${cardsOfUsers(all)}`,
  };
}

/** Three users in ten have no card, five have one, and two have two. */
const cardsOfUsers = (users: number) =>
  `generate_series(0, ${users - 1}) as n cross join lateral generate_series(0, case when n % 10 < 3 then -1 when n % 10 < 8 then 0 else 1 end) as nth`;

function unitsOfDepth(size: Size, index: number): string {
  const { unitsByDepth } = size;
  const before = unitsByDepth.slice(0, index).reduce((sum, count) => sum + count, 0);
  const above = unitsByDepth[index - 1] ?? 0;
  const count = unitsByDepth[index] ?? 0;
  const first = `o * ${unitsOf(size)}`;
  const id = keyInSql('unit', `${first} + ${before} + n`);
  return `
    insert into app_public.units (organization_id, id, parent_id, external_identifier, name, ancestor_ids)
    select placed.organization_id, placed.id, parent.id, 'unit-' || placed.number, 'Unit ' || placed.number,
      coalesce(parent.ancestor_ids, '{}') || placed.id
    from (
      select ${keyInSql('organization', 'o')} as organization_id, ${id} as id, ${first} + ${before} + n as number,
        ${index === 0 ? 'null::uuid' : keyInSql('unit', `${first} + ${before - above} + n::bigint * ${above} / ${count}`)} as parent_id
      from generate_series(0, ${organizations - 1}) as o, generate_series(0, ${count - 1}) as n
    ) as placed
    left join app_public.units parent on parent.organization_id = placed.organization_id and parent.id = placed.parent_id
    order by placed.id`;
}
