CREATE OR REPLACE FUNCTION audit.record_updates()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET row_security TO 'on'
 SET quote_all_identifiers TO 'off'
 SET "DateStyle" TO 'ISO, MDY'
 SET "IntervalStyle" TO 'postgres'
 SET "TimeZone" TO 'UTC'
 SET bytea_output TO 'hex'
 SET extra_float_digits TO '1'
AS $function$
  declare
    subject text = tg_argv[0];
    named text = tg_argv[1];
    secrets text[] = tg_argv[2];
    derived text[] = tg_argv[3]::text[] || array(
      select a.attname::text from pg_attribute a where a.attrelid = tg_relid and a.attnum > 0 and a.attgenerated <> '');
    is_paired boolean = (select count(*) from before) = (select count(*) from after);
    relation text = (
      select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = pg_partition_root(tg_relid));
  begin
    if not exists (select from pg_trigger t where t.tgrelid = tg_relid and t.tgname = 'audit_row') then
      return null;
    end if;
    -- Runs as graph_helper because nobody may write the history by hand.
    insert into audit.changes (
      organization_id, subject_id, relation, row_id, command, columns, before, after, role, login, application_id, user_id, grant_id, request_id)
    select
      coalesce(value ->> 'organization_id', value ->> 'id')::uuid, coalesce(value ->> subject, value ->> named)::uuid, relation, (value ->> named)::uuid,
      case when is_paired then 'update' when is_new then 'insert' else 'delete' end, columns,
      case when is_paired or not is_new then
        (select coalesce(jsonb_object_agg(key, coalesce(old_value, value) -> key), '{}') from unnest(columns) as key where key <> all (secrets)) end,
      case when is_new then
        (select coalesce(jsonb_object_agg(key, value -> key), '{}') from unnest(columns) as key where key <> all (secrets)) end,
      coalesce(nullif(current_setting('role'), 'none'), session_user), session_user,
      nullif(current_setting('graph.application_id', true), '')::uuid, nullif(current_setting('graph.user_id', true), '')::uuid,
      nullif(current_setting('graph.grant_id', true), '')::uuid, nullif(left(current_setting('graph.request_id', true), 200), '')
    from (
      select
        place, is_new, old_value, value,
        array(
          select key from jsonb_each(value) as e (key, now)
          where coalesce(old_value -> key, 'null') is distinct from now and key <> all (derived) order by key) as columns
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
    where columns <> '{}'
    order by place;
    return null;
  end
  $function$;
alter function audit.record_updates() owner to graph_helper;
comment on function audit.record_updates() is 'Records the rows of a partitioned table that a statement has changed, those that it moved included.';
