CREATE OR REPLACE FUNCTION app_hidden.lock_units(shared boolean DEFAULT false)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    of_all bigint = hashtextextended('app_public.units', 0);
  begin
    if coalesce(current_setting('graph.organization_id', true), '') = '' then
      perform pg_advisory_xact_lock(of_all);
      return;
    end if;
    perform pg_advisory_xact_lock_shared(of_all);
    perform app_hidden.lock_organization(shared);
  end
  $function$;
comment on function app_hidden.lock_units(boolean) is 'app_hidden.lock_organization for what writes units, or grants on them; without claims it locks the trees of all organizations. It is called before any row is locked.';
grant execute on function app_hidden.lock_units(boolean) to graph_admin;
grant execute on function app_hidden.lock_units(boolean) to graph_app;
