CREATE OR REPLACE FUNCTION app_hidden.one_time_zone(time_zone text, timezone text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    if one_time_zone.time_zone <> one_time_zone.timezone then
      raise invalid_parameter_value using message = 'timezone is another spelling of timeZone; the two differ.', column = 'timezone';
    end if;
    return coalesce(one_time_zone.time_zone, one_time_zone.timezone);
  end
  $function$;
comment on function app_hidden.one_time_zone(text,text) is 'The time zone, from the two spellings of its argument; with different values it is refused.';
grant execute on function app_hidden.one_time_zone(text,text) to graph_app;
