CREATE OR REPLACE FUNCTION app_hidden.see_webhook_directory(seen text)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    update app_hidden.webhook_charge c
    set directory = seen, database_oid = case when c.directory <> seen then 0 else c.database_oid end
    where c.directory is distinct from seen
  $function$;
comment on function app_hidden.see_webhook_directory(text) is 'Takes the charge from a database whose directory is another one than before: a copy.';
grant execute on function app_hidden.see_webhook_directory(text) to graph_admin;
