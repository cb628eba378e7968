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
    known audit.recorded_columns;
    root oid = pg_partition_root(tg_relid);
    relation text = format('%I.%I', tg_table_schema, tg_table_name);
    role text = coalesce(nullif(current_setting('role'), 'none'), session_user);
    application_id uuid = nullif(current_setting('graph.application_id', true), '');
    user_id uuid = nullif(current_setting('graph.user_id', true), '');
    grant_id uuid = nullif(current_setting('graph.grant_id', true), '');
    request_id text = nullif(left(current_setting('graph.request_id', true), 200), '');
  begin
    -- A foreign key deletes in every table that refers to a row, and mostly nothing.
    if not exists (select from affected) then
      return null;
    end if;
    -- A partition is recorded by its parent's name.
    if root is not null then
      if not exists (select from pg_trigger t join pg_class c on c.oid = t.tgrelid where t.tgrelid = tg_relid and t.tgname = 'audit_row' and c.relkind = 'p') then
        return null;
      end if;
      relation = (
        select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = root);
    end if;
    known = audit.columns_of(coalesce(root, tg_relid), tg_argv[0]);
    -- Runs as graph_helper because nobody may write the history by hand. `offset 0` makes each value once, not for each mention.
    insert into audit.changes (
      organization_id, subject_id, relation, row_id, command, columns, before, after, role, login, application_id, user_id, grant_id, request_id)
    select
      coalesce((value ->> 'organization_id')::uuid, own.id, no.id),
      coalesce((value ->> known.subject)::uuid, own.id, (value ->> 'organization_id')::uuid, no.id),
      relation, rows.key, lower(tg_op), array(select jsonb_object_keys(kept)),
      case tg_op when 'DELETE' then kept - known.secrets end, case tg_op when 'INSERT' then kept - known.secrets end,
      role, session_user, application_id, user_id, grant_id, request_id
    from (
      select
        value, value - known.derived as kept,
        case when cardinality(known.key) = 1 then value ->> known.key[1]
          else (select jsonb_object_agg(name, value -> name)::text from unnest(known.key) as name) end as key
      from (
        select case when known.is_plain then jsonb_strip_nulls(to_jsonb(r)) else audit.recorded_values(r) end as value
        from affected r
        offset 0
      ) as written
      offset 0
    ) as rows
    cross join lateral (select case when rows.key ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then rows.key::uuid end as id) as own
    cross join (select '00000000-0000-0000-0000-000000000000'::uuid as id) as no;
    return null;
  end
  $function$;
alter function audit.record_rows() owner to graph_helper;
comment on function audit.record_rows() is 'Records the rows that a statement has inserted or deleted.';
