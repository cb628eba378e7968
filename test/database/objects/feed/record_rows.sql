CREATE OR REPLACE FUNCTION feed.record_rows()
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
  begin
    -- One that was attached or detached after it was followed.
    if pg_partition_root(tg_relid) is not null
      and not exists (select from pg_trigger t join pg_class c on c.oid = t.tgrelid where t.tgrelid = tg_relid and t.tgname = 'follow_row' and c.relkind = 'p')
    then
      return null;
    end if;
    -- Runs as graph_helper because no client role has a right to write the feed. Set-based: one insert records all rows of a bulk statement.
    -- The two usual tables name their columns, which takes less time than a row as JSON.
    if tg_nargs = 5 and tg_argv[2] = '' and tg_argv[3] = '{}' and tg_argv[4] = 'id' then
      insert into feed.changes (origin, horizon, organization_id, relation, key, operation, columns)
      select feed.origin(), feed.next_horizon(r.organization_id), r.organization_id, tg_argv[0], array[to_jsonb(r.id) #>> '{}'], tg_argv[1], '{}'
      from affected r;
    elsif tg_nargs = 5 and tg_argv[2] = 'type' and tg_argv[3] = '{}' and tg_argv[4] = 'id' then
      insert into feed.changes (origin, horizon, organization_id, relation, type, key, operation, columns)
      select
        feed.origin(), feed.next_horizon(r.organization_id), r.organization_id, tg_argv[0], to_jsonb(r.type) #>> '{}', array[to_jsonb(r.id) #>> '{}'],
        tg_argv[1], '{}'
      from affected r;
    else
      -- `offset 0` makes each value once, not for each mention.
      insert into feed.changes (origin, horizon, organization_id, relation, type, key, operation, columns, related)
      select feed.origin(), feed.next_horizon(organization_id), organization_id, tg_argv[0], value ->> tg_argv[2],
        array(select value ->> name from unnest(tg_argv[4:]) as name), tg_argv[1], '{}', feed.related_of(value, tg_argv[3]::text[])
      from (select r.organization_id, app_hidden.row_values(r) as value from affected r offset 0) as rows;
    end if;
    return null;
  end
  $function$;
alter function feed.record_rows() owner to graph_helper;
comment on function feed.record_rows() is 'Adds the rows that a statement has inserted or deleted to the feed.';
