CREATE OR REPLACE FUNCTION app_hidden.lock_units(shared boolean DEFAULT false)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    organization_id uuid = app_hidden.current_organization_id();
    of_all bigint = hashtextextended('app_public.units', 0);
    of_one bigint = hashtextextended(organization_id::text, of_all);
  begin
    if organization_id is null then
      perform pg_advisory_xact_lock(of_all);
      return;
    end if;
    perform pg_advisory_xact_lock_shared(of_all);
    if shared then
      perform pg_advisory_xact_lock_shared(of_one);
    else
      perform pg_advisory_xact_lock(of_one);
    end if;
  end
  $function$;
comment on function app_hidden.lock_units(boolean) is 'Locks the tree of the claims'' organization until the transaction ends, without claims the trees of all. A function that writes units calls it first, before any row is locked, so that no two wait for each other.';
grant execute on function app_hidden.lock_units(boolean) to graph_admin;
grant execute on function app_hidden.lock_units(boolean) to graph_app;
