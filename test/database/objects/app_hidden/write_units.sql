CREATE OR REPLACE FUNCTION app_hidden.write_units(judged app_hidden.judged_unit[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'auto'
 SET enable_seqscan TO 'off'
AS $function$
  declare
    organization uuid = app_hidden.current_organization_id();
    changes_by_id jsonb = (select jsonb_object_agg((before).id, changes) from unnest(judged) where outcome = 'UPDATED');
    moved_ids uuid[] = array(
      select (before).id from unnest(judged) where outcome = 'UPDATED' and (before).parent_id is distinct from (after).parent_id);
  begin
    -- Parents first. Each finds the ancestors of the one above it, which the same statement has written.
    insert into app_public.units (organization_id, id, parent_id, external_identifier, name)
    select organization, (after).id, (after).parent_id, (after).external_identifier, (after).name
    from unnest(judged)
    where outcome = 'CREATED'
    order by depth, (after).id;

    update app_public.units u set (name, parent_id) = (
      select c.name, c.parent_id from jsonb_populate_record(u, changes_by_id -> u.id::text) as c
    )
    where u.organization_id = organization and u.id = any (moved_ids);
    update app_public.units u set name = (select c.name from jsonb_populate_record(u, changes_by_id -> u.id::text) as c)
    where u.organization_id = organization
      and u.id = any (array(select (before).id from unnest(judged) where outcome = 'UPDATED' and (before).id <> all (moved_ids)));
  end
  $function$;
comment on function app_hidden.write_units(app_hidden.judged_unit[]) is 'Writes those units of a sync that are new or differ.';
grant execute on function app_hidden.write_units(app_hidden.judged_unit[]) to graph_admin;
grant execute on function app_hidden.write_units(app_hidden.judged_unit[]) to graph_app;
