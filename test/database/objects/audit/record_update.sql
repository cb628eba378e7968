CREATE OR REPLACE FUNCTION audit.record_update()
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
    secrets text[] = tg_argv[2];
    derived text[] = tg_argv[3];
    old_value jsonb;
    new_value jsonb;
    written jsonb;
    changed text[];
    relation text = format('%I.%I', tg_table_schema, tg_table_name);
  begin
    if pg_partition_root(tg_relid) is not null then
      -- Recorded before it became a partition.
      if tg_name <> 'audit_row' then
        return null;
      end if;
      relation = (
        select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = pg_partition_root(tg_relid));
    end if;
    begin
      old_value = to_jsonb(old);
      new_value = to_jsonb(new);
    exception when data_exception or program_limit_exceeded then
      old_value = app_hidden.row_values(old);
      new_value = app_hidden.row_values(new);
    end;
    written = coalesce(new_value, old_value);
    changed = array(
      select key
      from jsonb_each(written) as e (key, value)
      where case tg_op when 'UPDATE' then old_value -> key is distinct from value else value <> 'null' end and key <> all (derived)
        and (select a.attgenerated from pg_attribute a where a.attrelid = tg_relid and a.attname = key::name) = ''
      order by key);
    -- Runs as graph_helper because nobody may write the history by hand.
    if changed <> '{}' then
      insert into audit.changes (
        organization_id, subject_id, relation, row_id, command, columns, before, after, role, login, application_id, user_id, grant_id, request_id)
      values (
        coalesce(written ->> 'organization_id', written ->> 'id')::uuid, coalesce(written ->> tg_argv[0], written ->> tg_argv[1])::uuid,
        relation, (written ->> tg_argv[1])::uuid, lower(tg_op), changed,
        case when tg_op <> 'INSERT' then
          (select coalesce(jsonb_object_agg(key, old_value -> key), '{}') from unnest(changed) as key where key <> all (secrets)) end,
        case when tg_op <> 'DELETE' then
          (select coalesce(jsonb_object_agg(key, new_value -> key), '{}') from unnest(changed) as key where key <> all (secrets)) end,
        coalesce(nullif(current_setting('role'), 'none'), session_user), session_user,
        nullif(current_setting('graph.application_id', true), '')::uuid, nullif(current_setting('graph.user_id', true), '')::uuid,
        nullif(current_setting('graph.grant_id', true), '')::uuid, nullif(left(current_setting('graph.request_id', true), 200), ''));
    end if;
    return null;
  end
  $function$;
alter function audit.record_update() owner to graph_helper;
comment on function audit.record_update() is 'Records the columns of a row that an update has changed; an update that changes nothing leaves no trace. Of a partition that was named also a row that was inserted or deleted.';
