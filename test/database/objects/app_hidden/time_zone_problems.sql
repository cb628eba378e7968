CREATE OR REPLACE FUNCTION app_hidden.time_zone_problems(names text[])
 RETURNS TABLE(name text, problem text)
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    unknown text[] = array(
      select given from unnest(names) as given
      where not exists (select from app_hidden.time_zones z where z.name = given) and not app_hidden.is_time_zone(given));
  begin
    if unknown = '{}' then
      return;
    end if;
    return query
      select
        given, 'A time zone is an IANA name, such as "Europe/Berlin", or the city alone, such as "Berlin"'
          || coalesce('; did you mean "' || n.nearest || '"?', '.')
      from unnest(unknown) as given
      left join app_hidden.nearest_time_zones(unknown) as n on n.name = given;
  end
  $function$;
comment on function app_hidden.time_zone_problems(text[]) is 'Those of some time zones that are unknown in any spelling: why they are refused, with the nearest that is known to the first ten.';
grant execute on function app_hidden.time_zone_problems(text[]) to graph_admin;
grant execute on function app_hidden.time_zone_problems(text[]) to graph_app;
