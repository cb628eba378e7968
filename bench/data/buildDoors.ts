import type { Pool } from 'pg';

export const sizes = {
  few: { people: 100, units: 23, cards: 90 },
  many: { people: 100_000, units: 23_000, cards: 90_000 },
};

/** Values that the doors of an organization may ask about. */
export type Doors = {
  readonly userIds: readonly string[];
  readonly userNames: readonly string[];
  readonly badges: readonly string[];
  readonly unitNames: readonly string[];
};

/**
 * Fills an organization by SQL: units in four levels, people with a badge and two grants each. One grant in ten has ended, and one in ten
 * has yet to begin.
 */
export async function buildDoors(
  owner: Pool,
  name: string,
  { people, units, cards }: (typeof sizes)['few'],
): Promise<Doors> {
  const { rows } = await owner.query('select id from app_hidden.organizations where name = $1', [name]);
  const organization = rows[0].id;
  const levels = [Math.ceil(units / 1000), Math.ceil(units / 50), Math.ceil(units / 5)];
  levels.push(units - levels.reduce((sum, count) => sum + count, 0));
  for (const [depth, count] of levels.entries())
    await owner.query(
      `insert into app_public.units (organization_id, parent_id, external_identifier, name)
       select $1, parent.id, $2 || '-' || number, 'Unit ' || $2 || '-' || number
       from generate_series(0, $3::bigint - 1) as number
       left join app_public.units parent
         on parent.organization_id = $1 and parent.external_identifier = ($2::int - 1) || '-' || number * $4 / $3`,
      [organization, depth, count, levels[depth - 1] ?? 0],
    );
  await owner.query(
    `insert into app_public.users (organization_id, external_identifier, full_name, email)
     select $1, 'u-' || number, 'Person ' || number, 'person-' || number || '@bench.test' from generate_series(1, $2::int) as number`,
    [organization, people],
  );
  await owner.query(
    `insert into app_public.cards (organization_id, type, name, nfc_identifier)
     select $1, 'NfcCard', 'Badge', upper(lpad(to_hex(number), 14, '0')) from generate_series(1, $2::int) as number`,
    [organization, cards],
  );
  // Else PostgreSQL plans what follows for empty tables.
  await owner.query('analyze app_public.units, app_public.users, app_public.cards');
  await owner.query(
    `insert into app_public.card_assignments (organization_id, user_id, card_id)
     select $1, u.id, c.id
     from generate_series(1, $2::int) as number
     join app_public.users u on u.organization_id = $1 and u.external_identifier = 'u-' || number
     join app_public.cards c on c.organization_id = $1 and c.nfc_identifier = upper(lpad(to_hex(number), 14, '0'))`,
    [organization, cards],
  );
  await owner.query(
    `insert into app_hidden.unit_access (organization_id, user_id, unit_id, source, valid_from, valid_until)
     select $1, u.id, n.id, case number % 3 when 0 then 'hr' end,
       case when number % 10 = 1 then now() + interval '1 year' end, case when number % 10 = 2 then now() - interval '1 day' end
     from generate_series(1, 2 * $2::int) as number
     join app_public.users u on u.organization_id = $1 and u.external_identifier = 'u-' || (1 + number % $2::int)
     join app_public.units n on n.organization_id = $1 and n.external_identifier = (number % 4) || '-' || number % 20
     on conflict do nothing`,
    [organization, people],
  );
  const read = async (text: string) => (await owner.query(text, [organization])).rows.map(({ value }) => String(value));
  return {
    userIds: (await read('select id as value from app_public.users where organization_id = $1 limit 1000')).map((id) =>
      Buffer.from(`User:${id}`).toString('base64url'),
    ),
    userNames: await read(
      'select external_identifier as value from app_public.users where organization_id = $1 limit 1000',
    ),
    badges: await read(
      `select nfc_identifier as value from app_public.cards where organization_id = $1 and nfc_identifier is not null limit 1000`,
    ),
    unitNames: await read(
      'select external_identifier as value from app_public.units where organization_id = $1 limit 1000',
    ),
  };
}
