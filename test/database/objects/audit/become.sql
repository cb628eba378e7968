CREATE OR REPLACE FUNCTION audit.become(principal audit.principals)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select
      set_config('graph.organization_id', coalesce(principal.organization_id::text, ''), true),
      set_config('graph.application_id', coalesce(principal.application_id::text, ''), true),
      set_config('graph.user_id', coalesce(principal.user_id::text, ''), true),
      set_config('graph.scope', principal.scope, true),
      set_config('graph.grant_id', '', true),
      set_config('graph.request_id', 'audit', true),
      set_config('graph.row_limit', '', true),
      set_config('row_security', 'on', true),
      -- Nobody who works waits for long because somebody looks.
      set_config('lock_timeout', '2s', true),
      set_config('role', principal.role, true)
  $function$;
comment on function audit.become(audit.principals) is 'The settings of a request of this principal, until the transaction or subtransaction ends.';
grant execute on function audit.become(audit.principals) to graph_admin;
