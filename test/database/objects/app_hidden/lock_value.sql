CREATE OR REPLACE FUNCTION app_hidden.lock_value(rule name, value text, old_value text DEFAULT NULL::text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    of_rule bigint = hashtextextended(current_setting('graph.organization_id', true), hashtextextended(rule::text, 0));
    key bigint = hashtextextended(value, of_rule);
    old_key bigint = hashtextextended(old_value, of_rule);
  begin
    perform pg_advisory_xact_lock(least(key, old_key));
    if key <> old_key then
      perform pg_advisory_xact_lock(greatest(key, old_key));
    end if;
  end
  $function$;
comment on function app_hidden.lock_value(name,text,text) is 'Locks a value of a unique constraint in the organization of the claims until the transaction ends, and the one that the row gives up.';
grant execute on function app_hidden.lock_value(name,text,text) to graph_admin;
grant execute on function app_hidden.lock_value(name,text,text) to graph_app;
