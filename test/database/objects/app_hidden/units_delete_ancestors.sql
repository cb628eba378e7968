CREATE OR REPLACE FUNCTION app_hidden.units_delete_ancestors()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
  declare
    organization_ids uuid[] = array(select organization_id from deleted order by organization_id, id);
    unit_ids uuid[] = array(select id from deleted order by organization_id, id);
  begin
    -- Runs as graph_helper because no other role may write ancestors.
    delete from app_hidden.unit_ancestors a
    using unnest(organization_ids, unit_ids) as gone (organization_id, unit_id)
    where a.organization_id = gone.organization_id and a.unit_id = gone.unit_id;
    return null;
  end
  $function$;
alter function app_hidden.units_delete_ancestors() owner to graph_helper;
comment on function app_hidden.units_delete_ancestors() is 'Deletes the pairs of deleted units from app_hidden.unit_ancestors.';
