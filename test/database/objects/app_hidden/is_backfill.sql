CREATE OR REPLACE FUNCTION app_hidden.is_backfill(relation oid)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    -- Every role may set this setting. So the session has to be one of the table's owner, whom no definer takes the place of.
    return current_setting('recording.backfill', true) = relation::text
      and pg_has_role(
        coalesce(nullif(current_setting('role'), 'none'), session_user)::name,
        (select c.relowner from pg_class c where c.oid = relation), 'member');
  end
  $function$;
comment on function app_hidden.is_backfill(oid) is 'Whether audit.backfill updates this table now: neither history nor feed has that.';
grant execute on function app_hidden.is_backfill(oid) to graph_helper;
