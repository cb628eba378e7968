CREATE OR REPLACE FUNCTION app_hidden.has_webhook_charge()
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select exists (
      select from app_hidden.webhook_charge c
      join pg_control_system() s on s.system_identifier = c.system_identifier
      join pg_database d on d.oid = c.database_oid
      where d.datname = current_database())
  $function$;
comment on function app_hidden.has_webhook_charge() is 'Whether this database sends webhooks: it is no copy, or has taken charge.';
grant execute on function app_hidden.has_webhook_charge() to graph_admin;
grant execute on function app_hidden.has_webhook_charge() to graph_worker;
