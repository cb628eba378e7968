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
    known audit.recorded_columns;
    old_value jsonb;
    new_value jsonb;
    written jsonb;
    changed text[];
    key text;
    own uuid;
    root oid = pg_partition_root(tg_relid);
    relation text = format('%I.%I', tg_table_schema, tg_table_name);
  begin
    if tg_op = 'UPDATE' and current_setting('recording.backfill', true) <> '' and app_hidden.is_backfill(coalesce(root, tg_relid)) then
      return null;
    elsif root is not null then
      -- Recorded before it became a partition.
      if tg_name <> 'audit_row' then
        return null;
      end if;
      relation = (
        select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = root);
    end if;
    known = audit.columns_of(coalesce(root, tg_relid), tg_argv[0]);
    begin
      old_value = to_jsonb(old);
      new_value = to_jsonb(new);
    exception when data_exception or program_limit_exceeded then
      old_value = app_hidden.row_values(old);
      new_value = app_hidden.row_values(new);
    end;
    written = coalesce(new_value, old_value);
    changed = array(
      select name
      from jsonb_each(written) as e (name, value)
      where case tg_op when 'UPDATE' then old_value -> name is distinct from value else value <> 'null' end and name <> all (known.derived)
      order by name);
    -- Runs as graph_helper because nobody may write the history by hand.
    if changed <> '{}' then
      key = written ->> known.key[1];
      if cardinality(known.key) > 1 then
        key = (select jsonb_object_agg(name, written -> name)::text from unnest(known.key) as name);
      end if;
      own = case when key ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then key::uuid end;
      insert into audit.changes (
        organization_id, subject_id, relation, row_id, command, columns, before, after, role, login, application_id, user_id, grant_id, request_id)
      values (
        coalesce((written ->> 'organization_id')::uuid, own, '00000000-0000-0000-0000-000000000000'),
        coalesce((written ->> known.subject)::uuid, own, (written ->> 'organization_id')::uuid, '00000000-0000-0000-0000-000000000000'),
        relation, key, lower(tg_op), changed,
        case when tg_op <> 'INSERT' then
          (select coalesce(jsonb_object_agg(name, old_value -> name), '{}') from unnest(changed) as name
           where name <> all (known.secrets)) end,
        case when tg_op <> 'DELETE' then
          (select coalesce(jsonb_object_agg(name, new_value -> name), '{}') from unnest(changed) as name
           where name <> all (known.secrets)) end,
        coalesce(nullif(current_setting('role'), 'none'), session_user), session_user,
        nullif(current_setting('graph.application_id', true), '')::uuid, nullif(current_setting('graph.user_id', true), '')::uuid,
        nullif(current_setting('graph.grant_id', true), '')::uuid, nullif(left(current_setting('graph.request_id', true), 200), ''));
    end if;
    return null;
  end
  $function$;
alter function audit.record_update() owner to graph_helper;
comment on function audit.record_update() is 'Records the columns of a row that an update has changed; an update that changes nothing leaves no trace. Of a partition that was named also a row that was inserted or deleted.';
