CREATE OR REPLACE FUNCTION audit.create_partitions()
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    missing timestamptz[];
    next timestamptz;
  begin
    -- Of two at once one waits, and finds nothing left to do.
    perform pg_advisory_xact_lock(hashtextextended('audit.create_partitions', 0));
    missing = array(
      select wanted.month
      from (
        select month at time zone 'UTC' as month
        from date_trunc('month', statement_timestamp() at time zone 'UTC') as this,
          generate_series(this, this + interval '3 months', interval '1 month') as month
        union
        select date_trunc('month', occurred_at, 'UTC') from audit.changes_default
      ) as wanted
      where not exists (select from audit.partitions p where coalesce(p.since, '-infinity') <= wanted.month and wanted.month < p.until)
      order by wanted.month);
    foreach next in array missing loop
      perform audit.create_partition(next);
    end loop;
    return cardinality(missing);
  end
  $function$;
comment on function audit.create_partitions() is 'Makes the partitions that are missing of this month and the next three, and of what came to the default partition, and says how many. For the owner.';
