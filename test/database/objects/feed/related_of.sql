CREATE OR REPLACE FUNCTION feed.related_of(value jsonb, names text[])
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$ select jsonb_object_agg(name, value ->> name) from unnest(names) as name where value ? name $function$;
comment on function feed.related_of(jsonb,text[]) is 'Those columns of a row by which it refers to others; null without one.';
grant execute on function feed.related_of(jsonb,text[]) to graph_helper;
