CREATE OR REPLACE FUNCTION feed.record_updates()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET row_security TO 'on'
 SET "DateStyle" TO 'ISO, MDY'
 SET "IntervalStyle" TO 'postgres'
 SET "TimeZone" TO 'UTC'
 SET bytea_output TO 'hex'
 SET extra_float_digits TO '1'
AS $function$
  declare
    type_column text = tg_argv[1];
    related text[] = tg_argv[3];
    names text[] = tg_argv[4:];
    identifying text[] = feed.identifying(tg_relid, tg_argv[4:]) || array['organization_id', type_column];
    root oid = pg_partition_root(tg_relid);
    ignored text[] = '{updated_at}' || array(
      select a.attname::text from pg_attribute a
      where a.attrelid = root and a.attnum > 0
        and (a.attgenerated <> ''
          or a.attnum = any ((select t.tgattr from pg_trigger t where t.tgrelid = root and t.tgname = 'follow_columns')::int2[])));
    is_paired boolean = (select count(*) from before) = (select count(*) from after);
  begin
    if not exists (select from pg_trigger t where t.tgrelid = tg_relid and t.tgname = 'follow_row')
      or current_setting('recording.backfill', true) <> '' and app_hidden.is_backfill(root)
    then
      return null;
    end if;
    -- Runs as graph_helper because no client role has a right to write the feed.
    insert into feed.changes (origin, horizon, organization_id, relation, type, key, operation, columns, related)
    select
      feed.origin(), feed.next_horizon(made.organization_id), made.organization_id, tg_argv[0], made.value ->> type_column,
      array(select made.value ->> name from unnest(names) as name), made.operation, made.columns, feed.related_of(made.value, related)
    from (
      select
        place, old_value, value,
        array(
          select key from jsonb_each(value) as e (key, now) where old_value -> key is distinct from now and key <> all (ignored) order by key) as columns
      from (
        select
          place, is_new, lag(rows.value) over (partition by place order by is_new) as old_value, rows.value
        from (
          select row_number() over () as place, false as is_new, app_hidden.row_values(b) as value from before b
          union all
          select row_number() over () + case when is_paired then 0 else (select count(*) from before) end, true, app_hidden.row_values(a) from after a
        ) as rows
      ) as pairs
      where is_new or not is_paired
      offset 0
    ) as changed
    cross join lateral (
      select 1 as step, 'UPDATE' as operation, (value ->> 'organization_id')::uuid as organization_id, value, columns
      where is_paired and not columns && identifying
      union all
      select 2, 'DELETE', (old_value ->> 'organization_id')::uuid, old_value, '{}'
      where is_paired and columns && identifying
      union all
      select 3, 'CREATE', (value ->> 'organization_id')::uuid, value, '{}'
      where is_paired and columns && identifying
      union all
      select 4, case when place <= (select count(*) from before) then 'DELETE' else 'CREATE' end, (value ->> 'organization_id')::uuid, value, '{}'
      where not is_paired
    ) as made
    where changed.columns <> '{}'
    order by place, step;
    return null;
  end
  $function$;
alter function feed.record_updates() owner to graph_helper;
comment on function feed.record_updates() is 'Adds the rows of a partitioned table that a statement has changed to the feed, those that it moved included.';
