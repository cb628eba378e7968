CREATE OR REPLACE FUNCTION feed.record_update()
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
    ignored int2[] = '{}';
    related text[] = tg_argv[3];
    names text[] = tg_argv[4:];
    root oid = coalesce(pg_partition_root(tg_relid), tg_relid);
    old_value jsonb;
    new_value jsonb;
    changed text[];
  begin
    -- Followed before it became a partition.
    if tg_name <> 'follow_row' and root <> tg_relid
      or tg_op = 'UPDATE' and current_setting('recording.backfill', true) <> '' and app_hidden.is_backfill(root)
    then
      return null;
    end if;
    begin
      old_value = to_jsonb(old);
      new_value = to_jsonb(new);
    exception when data_exception or program_limit_exceeded then
      old_value = app_hidden.row_values(old);
      new_value = app_hidden.row_values(new);
    end;
    -- Of a partition.
    if tg_op <> 'UPDATE' then
      insert into feed.changes (origin, horizon, organization_id, relation, type, key, operation, columns, related)
      select
        feed.origin(), feed.next_horizon(organization_id), organization_id, tg_argv[0], value ->> type_column,
        array(select value ->> name from unnest(names) as name), case tg_op when 'INSERT' then 'CREATE' else 'DELETE' end, '{}',
        feed.related_of(value, related)
      from (select (coalesce(new_value, old_value) ->> 'organization_id')::uuid as organization_id, coalesce(new_value, old_value) as value) as written;
      return null;
    end if;
    if tg_argv[2] <> '0' then
      ignored = coalesce((select t.tgattr from pg_trigger t where t.tgrelid = root and t.tgname = 'follow_columns')::int2[], '{}');
    end if;
    -- Generated columns are looked up now, since any may be added later.
    changed = array(
      select key
      from jsonb_each(new_value) as e (key, value)
      where old_value -> key is distinct from value and key <> 'updated_at'
        and (select a.attgenerated = '' and a.attnum <> all (ignored) from pg_attribute a where a.attrelid = root and a.attname = key::name)
      order by key);
    if changed = '{}' then
      return null;
    end if;
    -- Runs as graph_helper because no client role has a right to write the feed.
    -- A change of the key, the type or the organization is the deletion of one object and the creation of another.
    if not changed && (feed.identifying(tg_relid, names) || array['organization_id', type_column]) then
      insert into feed.changes (origin, horizon, organization_id, relation, type, key, operation, columns, related)
      values (
        feed.origin(), feed.next_horizon(new.organization_id), new.organization_id, tg_argv[0], new_value ->> type_column,
        array(select new_value ->> name from unnest(names) as name), 'UPDATE', changed, feed.related_of(new_value, related));
    else
      insert into feed.changes (origin, horizon, organization_id, relation, type, key, operation, columns, related)
      select
        feed.origin(), feed.next_horizon(organization_id), organization_id, tg_argv[0], value ->> type_column,
        array(select value ->> name from unnest(names) as name), operation, '{}', feed.related_of(value, related)
      from (values (1, 'DELETE', old.organization_id, old_value), (2, 'CREATE', new.organization_id, new_value)) as made (place, operation, organization_id, value)
      order by place;
    end if;
    return null;
  end
  $function$;
alter function feed.record_update() owner to graph_helper;
comment on function feed.record_update() is 'Adds a row that was changed to the feed; of a partition that was named also one that was inserted or deleted.';
