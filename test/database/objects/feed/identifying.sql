CREATE OR REPLACE FUNCTION feed.identifying(relation oid, names text[])
 RETURNS text[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    if pg_partition_root(relation) is null then
      return names;
    end if;
    return coalesce(
      nullif(
        array(
          select name from unnest(names) as name
          where name not in (
            select a.attname::text
            from pg_partition_tree(pg_partition_root(relation)) t
            join pg_partitioned_table p on p.partrelid = t.relid
            join pg_attribute a on a.attrelid = p.partrelid and a.attnum = any (p.partattrs::int2[]))),
        '{}'),
      names);
  end
  $function$;
comment on function feed.identifying(oid,text[]) is 'Those columns of a key that say which object a row is: all but those that a partitioned table is partitioned by.';
grant execute on function feed.identifying(oid,text[]) to graph_helper;
