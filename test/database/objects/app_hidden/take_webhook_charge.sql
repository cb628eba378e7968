CREATE OR REPLACE FUNCTION app_hidden.take_webhook_charge()
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    if app_hidden.has_webhook_charge() then
      return false;
    end if;
    insert into app_hidden.webhook_charge (system_identifier, database_oid)
    select s.system_identifier, d.oid
    from pg_control_system() s
    join pg_database d on d.datname = current_database()
    on conflict on constraint webhook_charge_pkey do update
    set system_identifier = excluded.system_identifier, database_oid = excluded.database_oid;
    return true;
  end
  $function$;
comment on function app_hidden.take_webhook_charge() is 'Has this database send webhooks from now on; whether it did not before. The other must have ended.';
grant execute on function app_hidden.take_webhook_charge() to graph_admin;
