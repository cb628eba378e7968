CREATE OR REPLACE FUNCTION app_hidden.depths_below(above integer[])
 RETURNS integer[]
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    count int = cardinality(above);
    pointers int[] = above;
    depths int[] = array(select case when a = 0 then 0 else 1 end from unnest(above) with ordinality as r (a, n) order by n);
    reach int = 1;
    circle int[];
  begin
    -- One round more than reaches every root: then a pointer that leads anywhere leads into a circle.
    while reach <= count loop
      select
        array_agg(depths[n] + case when p = 0 then 0 else depths[p] end order by n),
        array_agg(case when p = 0 then 0 else pointers[p] end order by n)
        into depths, pointers
      from unnest(pointers) with ordinality as r (p, n);
      reach = reach * 2;
    end loop;
    circle = array(select distinct p from unnest(pointers) as c (p) where p <> 0);
    return array(
      select case when n = any (circle) then -1 else depth end
      from unnest(depths) with ordinality as r (depth, n)
      order by n);
  end
  $function$;
comment on function app_hidden.depths_below(integer[]) is 'How many steps lead from each position of an array to 0, each to the position that it names; -1 for those in a circle.';
grant execute on function app_hidden.depths_below(integer[]) to graph_admin;
grant execute on function app_hidden.depths_below(integer[]) to graph_app;
