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
    known audit.recorded_columns;
    root oid = pg_partition_root(tg_relid);
    is_paired boolean = (select count(*) from before) = (select count(*) from after);
    relation text = (
      select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = root);
  begin
    if not exists (select from pg_trigger t where t.tgrelid = tg_relid and t.tgname = 'audit_row')
      or current_setting('recording.backfill', true) <> '' and app_hidden.is_backfill(root)
    then
      return null;
    end if;
    known = audit.columns_of(root, tg_argv[0]);
    -- Runs as graph_helper because nobody may write the history by hand.
    insert into audit.changes (
      organization_id, subject_id, relation, row_id, command, columns, before, after, role, login, application_id, user_id, grant_id, request_id)
    select
      coalesce((value ->> 'organization_id')::uuid, own.id, no.id),
      coalesce((value ->> known.subject)::uuid, own.id, (value ->> 'organization_id')::uuid, no.id),
      relation, changed.key, case when is_paired then 'update' when is_new then 'insert' else 'delete' end, columns,
      case when is_paired or not is_new then
        (select coalesce(jsonb_object_agg(name, coalesce(old_value, value) -> name), '{}') from unnest(columns) as name
         where name <> all (known.secrets)) end,
      case when is_new then
        (select coalesce(jsonb_object_agg(name, value -> name), '{}') from unnest(columns) as name where name <> all (known.secrets)) end,
      coalesce(nullif(current_setting('role'), 'none'), session_user), session_user,
      nullif(current_setting('graph.application_id', true), '')::uuid, nullif(current_setting('graph.user_id', true), '')::uuid,
      nullif(current_setting('graph.grant_id', true), '')::uuid, nullif(left(current_setting('graph.request_id', true), 200), '')
    from (
      select
        place, is_new, old_value, value,
        case when cardinality(known.key) = 1 then value ->> known.key[1]
          else (select jsonb_object_agg(name, value -> name)::text from unnest(known.key) as name) end as key,
        array(
          select name from jsonb_each(value) as e (name, now)
          where coalesce(old_value -> name, 'null') is distinct from now and name <> all (known.derived) order by name) as columns
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
      select case when changed.key ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then changed.key::uuid end as id) as own
    cross join (select '00000000-0000-0000-0000-000000000000'::uuid as id) as no
    where columns <> '{}'
    order by place;
    return null;
  end
  $function$;
alter function audit.record_updates() owner to graph_helper;
comment on function audit.record_updates() is 'Records the rows of a partitioned table that a statement has changed, those that it moved included.';
