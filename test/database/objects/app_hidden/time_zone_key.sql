CREATE OR REPLACE FUNCTION app_hidden.time_zone_key(name text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    -- Without the combining marks of diacritics, and the marks in "Nukuʻalofa" and "St. John’s".
    return lower(translate(regexp_replace(normalize(name, nfd), e'[\u0300-\u036f.,''\u2018\u2019\u02bb]', '', 'g'), '_', ' ') collate "C");
  end
  $function$;
comment on function app_hidden.time_zone_key(text) is 'By what two spellings of a time zone are the same.';
grant execute on function app_hidden.time_zone_key(text) to graph_admin;
grant execute on function app_hidden.time_zone_key(text) to graph_app;
