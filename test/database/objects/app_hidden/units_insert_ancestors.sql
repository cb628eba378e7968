CREATE OR REPLACE FUNCTION app_hidden.units_insert_ancestors()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET row_security TO 'on'
AS $function$
  begin
    -- Runs as graph_helper because no other role may write ancestors.
    insert into app_hidden.unit_ancestors (organization_id, ancestor_id, unit_id)
    select organization_id, unnest(ancestor_ids), id from inserted;
    return null;
  end
  $function$;
alter function app_hidden.units_insert_ancestors() owner to graph_helper;
comment on function app_hidden.units_insert_ancestors() is 'Adds the pairs of a new unit and those above it to app_hidden.unit_ancestors.';
