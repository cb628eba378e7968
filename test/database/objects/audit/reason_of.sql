CREATE OR REPLACE FUNCTION audit.reason_of(principal audit.principals, relation regclass, value jsonb)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select string_agg(reason, '; ' order by reason)
    from (
      select format('access to unit %s %s', u.name, a.unit_id) as reason
      from app_hidden.unit_access a
      join app_public.units u on u.organization_id = a.organization_id and u.id = a.unit_id
      where a.organization_id = principal.organization_id and a.user_id = principal.user_id
        and (a.valid_from is null or a.valid_from <= app_hidden.current_moment())
        and (a.valid_until is null or a.valid_until > app_hidden.current_moment())
        and (
          relation = 'app_public.units'::regclass and value -> 'ancestor_ids' ? a.unit_id::text
          or relation = 'app_hidden.unit_ancestors'::regclass and value ->> 'ancestor_id' = a.unit_id::text)
      union all
      select format('card assignment %s', a.id)
      from app_public.card_assignments a
      where relation = 'app_public.cards'::regclass and a.organization_id = principal.organization_id
        and a.user_id = principal.user_id and value ->> 'id' = a.card_id::text
      union all
      select 'the own row'
      where principal.user_id is not null and coalesce(value ->> 'user_id', value ->> 'id') = principal.user_id::text
    ) as reasons
  $function$;
comment on function audit.reason_of(audit.principals,regclass,jsonb) is 'Which row gives a person access to a row: the unit at the root of a granted subtree, an assignment of a card.';
grant execute on function audit.reason_of(audit.principals,regclass,jsonb) to graph_admin;
