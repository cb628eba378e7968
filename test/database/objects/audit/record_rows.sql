CREATE OR REPLACE FUNCTION audit.record_rows()
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
    -- The generated columns; '' stands for a type that may contain JSON.
    special text[] = array(
      select case when a.is_own then a.attname::text else '' end
      from (
        select
          attname, attgenerated <> '' as is_generated,
          atttypid < 16384 and atttypid not in ('json'::regtype, 'json[]'::regtype, 'jsonb'::regtype, 'jsonb[]'::regtype) as is_own
        from pg_attribute where attrelid = tg_relid and attnum > 0) as a
      where a.is_generated or not a.is_own);
    is_plain boolean = '' <> all (special);
    derived text[] = tg_argv[3]::text[] || special;
    relation text = format('%I.%I', tg_table_schema, tg_table_name);
    role text = coalesce(nullif(current_setting('role'), 'none'), session_user);
    application_id uuid = nullif(current_setting('graph.application_id', true), '');
    user_id uuid = nullif(current_setting('graph.user_id', true), '');
    grant_id uuid = nullif(current_setting('graph.grant_id', true), '');
    request_id text = nullif(left(current_setting('graph.request_id', true), 200), '');
  begin
    -- A partition is recorded by its parent's name.
    if pg_partition_root(tg_relid) is not null then
      if not exists (select from pg_trigger t join pg_class c on c.oid = t.tgrelid where t.tgrelid = tg_relid and t.tgname = 'audit_row' and c.relkind = 'p') then
        return null;
      end if;
      relation = (
        select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = pg_partition_root(tg_relid));
    end if;
    -- Runs as graph_helper because nobody may write the history by hand. `offset 0` makes each value once, not for each mention.
    if tg_op = 'INSERT' then
      insert into audit.changes (
        organization_id, subject_id, relation, row_id, command, columns, after, role, login, application_id, user_id, grant_id, request_id)
      select
        coalesce(value ->> 'organization_id', value ->> 'id')::uuid, coalesce(value ->> subject, value ->> named)::uuid, relation, (value ->> named)::uuid,
        'insert', array(select jsonb_object_keys(value)), value - secrets, role, session_user, application_id, user_id, grant_id, request_id
      from (
        select case when is_plain then jsonb_strip_nulls(to_jsonb(r)) else audit.recorded_values(r, tg_relid) end - derived as value
        from inserted r
        offset 0
      ) as rows;
    else
      insert into audit.changes (
        organization_id, subject_id, relation, row_id, command, columns, before, role, login, application_id, user_id, grant_id, request_id)
      select
        coalesce(value ->> 'organization_id', value ->> 'id')::uuid, coalesce(value ->> subject, value ->> named)::uuid, relation, (value ->> named)::uuid,
        'delete', array(select jsonb_object_keys(value)), value - secrets, role, session_user, application_id, user_id, grant_id, request_id
      from (
        select case when is_plain then jsonb_strip_nulls(to_jsonb(r)) else audit.recorded_values(r, tg_relid) end - derived as value
        from deleted r
        offset 0
      ) as rows;
    end if;
    return null;
  end
  $function$;
alter function audit.record_rows() owner to graph_helper;
comment on function audit.record_rows() is 'Records the rows that a statement has inserted or deleted.';
