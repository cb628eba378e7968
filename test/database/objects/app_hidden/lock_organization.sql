CREATE OR REPLACE FUNCTION app_hidden.lock_organization(shared boolean DEFAULT false)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    key bigint = hashtextextended(nullif(current_setting('graph.organization_id', true), ''), hashtextextended('app_hidden.organizations', 0));
  begin
    if shared then
      perform pg_advisory_xact_lock_shared(key);
    else
      perform pg_advisory_xact_lock(key);
    end if;
  end
  $function$;
comment on function app_hidden.lock_organization(boolean) is 'Locks the organization of the claims until the transaction ends. A function that writes several of its rows calls it first; one that writes a row shares the lock.';
grant execute on function app_hidden.lock_organization(boolean) to graph_admin;
grant execute on function app_hidden.lock_organization(boolean) to graph_app;
