CREATE OR REPLACE FUNCTION feed.rotate_partitions()
 RETURNS TABLE(days integer, new_days integer)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '100ms'
 SET quote_all_identifiers TO 'off'
AS $function$
  declare
    today date = statement_timestamp() at time zone 'UTC';
    expired regclass;
    missing date[];
    next date;
  begin
    -- Runs as the owner of the feed, since only that may make or drop a partition.
    days = 0;
    new_days = 0;
    if not pg_try_advisory_xact_lock(hashtextextended('feed.rotate_partitions', 0)) then
      return;
    end if;
    missing = array(
      select wanted.day from (
        select today + n as day from generate_series(0, 7) as n
        union
        select (c.at at time zone 'UTC')::date from feed.changes_default c
      ) as wanted
      order by wanted.day);
    foreach next in array missing loop
      new_days = new_days + feed.create_partition(next)::int;
    end loop;
    if new_days = 0 then
      select p.partition into expired
      from audit.partitions_of('feed.changes') as p
      where p.until <= statement_timestamp() - feed.retention()
      order by p.until
      limit 1;
      if expired is not null then
        delete from audit.accepted where kind = 'history' and object = expired::text;
        execute format('drop table %s', expired);
        days = 1;
      end if;
    end if;
    return next;
  end
  $function$;
comment on function feed.rotate_partitions() is 'Makes the partitions that are missing of the coming days and of what came to the default partition, or drops the oldest one, if all of it is older than feed.retention; and says how many. No row when another session is at it; lock_not_available when the feed is in use.';
grant execute on function feed.rotate_partitions() to graph_admin;
grant execute on function feed.rotate_partitions() to graph_oauth;
