CREATE OR REPLACE FUNCTION app_hidden.is_time_zone(name text)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    return char_length(is_time_zone.name) <= 100
      and exists (select from app_hidden.time_zones z where z.key = app_hidden.time_zone_key(is_time_zone.name));
  end
  $function$;
comment on function app_hidden.is_time_zone(text) is 'Whether a time zone is known, in any spelling of at most 100 characters.';
grant execute on function app_hidden.is_time_zone(text) to graph_admin;
grant execute on function app_hidden.is_time_zone(text) to graph_app;
