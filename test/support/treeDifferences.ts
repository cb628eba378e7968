import type { Pool } from 'pg';

/** Units whose ancestors, or pairs that, are not what following parent_id says. */
export async function treeDifferences(owner: Pick<Pool, 'query'>): Promise<unknown[]> {
  const { rows } = await owner.query(`
    with recursive followed as (
      select organization_id, id, array[id] as ancestor_ids from app_public.units where parent_id is null
      union all
      select u.organization_id, u.id, f.ancestor_ids || u.id
      from app_public.units u
      join followed f on f.organization_id = u.organization_id and f.id = u.parent_id
    ),
    pairs as (select organization_id, unnest(ancestor_ids) as ancestor_id, id as unit_id from followed)
    select 'ancestor_ids' as what, u.id from app_public.units u
    left join followed f using (organization_id, id) where u.ancestor_ids is distinct from f.ancestor_ids
    union all
    (select 'missing pair', unit_id from (table pairs except table app_hidden.unit_ancestors) as missing)
    union all
    (select 'extra pair', unit_id from (table app_hidden.unit_ancestors except table pairs) as extra)`);
  return rows;
}
