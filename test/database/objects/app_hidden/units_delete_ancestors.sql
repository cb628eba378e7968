CREATE OR REPLACE FUNCTION app_hidden.units_delete_ancestors()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET row_security TO 'on'
AS $function$
  declare
    organization_ids uuid[];
    ancestor_ids uuid[];
    unit_ids uuid[];
  begin
    -- Runs as graph_helper because no other role may write ancestors.
    select array_agg(gone.organization_id), array_agg(gone.ancestor_id), array_agg(gone.unit_id) into organization_ids, ancestor_ids, unit_ids
    from (select organization_id, unnest(deleted.ancestor_ids) as ancestor_id, id as unit_id from deleted) as gone;
    delete from app_hidden.unit_ancestors a
    using unnest(organization_ids, ancestor_ids, unit_ids) as gone (organization_id, ancestor_id, unit_id)
    where a.organization_id = gone.organization_id and a.ancestor_id = gone.ancestor_id and a.unit_id = gone.unit_id;
    return null;
  end
  $function$;
alter function app_hidden.units_delete_ancestors() owner to graph_helper;
comment on function app_hidden.units_delete_ancestors() is 'Deletes the pairs of deleted units from app_hidden.unit_ancestors.';
