CREATE OR REPLACE FUNCTION app_hidden.nearest_time_zones(names text[])
 RETURNS TABLE(name text, nearest text)
 LANGUAGE sql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    -- Sørensen's and Dice's coefficient: the part of the pairs of neighbouring letters that two spellings have in common.
    with pairs as (
      select z.name, count(*) over (partition by z.name) as number, substr(z.padded, n, 2) as pair
      from (select name, '^' || key || '$' as padded from app_hidden.time_zones) as z
      cross join lateral generate_series(1, length(z.padded) - 1) as n
    ),
    given as (
      select g.name, substr(g.padded, n, 2) as pair, count(*) over (partition by g.name) as number
      from (select name, '^' || left(app_hidden.time_zone_key(name), 50) || '$' as padded from unnest(names) as name) as g
      cross join lateral generate_series(1, length(g.padded) - 1) as n
    )
    select distinct on (given.name) given.name, pairs.name
    from pairs join given using (pair)
    group by given.name, given.number, pairs.name, pairs.number
    order by given.name, count(*)::numeric / (pairs.number + given.number) desc, pairs.name
  $function$;
comment on function app_hidden.nearest_time_zones(text[]) is 'For each the time zone whose spelling is nearest; none for one that has nothing in common with any.';
grant execute on function app_hidden.nearest_time_zones(text[]) to graph_admin;
grant execute on function app_hidden.nearest_time_zones(text[]) to graph_app;
