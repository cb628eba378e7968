CREATE OR REPLACE FUNCTION audit.record(relation regclass, subject_id name DEFAULT NULL::name, row_id name DEFAULT NULL::name, secrets name[] DEFAULT NULL::name[], derived name[] DEFAULT NULL::name[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET quote_all_identifiers TO 'off'
 SET standard_conforming_strings TO 'on'
AS $function$
  declare
    -- A partition is recorded with its parent.
    root regclass = coalesce(pg_partition_root(relation), relation);
    is_partitioned boolean = exists (select from pg_class where oid = root and relkind = 'p');
    -- As it is recorded already, the condition of the trigger included.
    known text[];
    condition text;
    subject_column name;
    row_column name;
    secret_columns name[];
    derived_columns name[];
    arguments text;
    missing text;
    parent regclass;
  begin
    select string_to_array(encode(t.tgargs, 'escape'), '\000'), (regexp_match(pg_get_triggerdef(t.oid), ' WHEN (\(.*\)) EXECUTE '))[1] into known, condition
    from pg_trigger t
    where t.tgrelid = root and t.tgfoid = 'audit.record_update'::regproc and t.tgparentid = 0;
    subject_column = coalesce(record.subject_id, known[1], 'id');
    row_column = coalesce(record.row_id, known[2], 'id');
    secret_columns = coalesce(record.secrets, known[3]::name[], '{}');
    derived_columns = coalesce(record.derived, known[4]::name[], '{}');
    arguments = format('%L, %L, %L, %L', subject_column, row_column, secret_columns, derived_columns);
    missing = (
      select string_agg(wanted, ', ')
      from unnest(array[subject_column, row_column] || record.secrets || record.derived) as wanted
      where wanted not in (select attname from pg_attribute where attrelid = root and attnum > 0 and not attisdropped));
    if missing is not null then
      raise undefined_column using message = format('%s has no column %s', root, missing);
    end if;
    foreach parent in array array(select root union all select t.relid from pg_partition_tree(root) t where not t.isleaf and t.relid <> root) loop
      execute format(
        'create or replace trigger audit_insert after insert on %s referencing new table as inserted
           for each statement execute function audit.record_rows(%s)', parent, arguments);
      execute format(
        'create or replace trigger audit_delete after delete on %s referencing old table as deleted
           for each statement execute function audit.record_rows(%s)', parent, arguments);
      continue when not is_partitioned;
      execute format(
        'create or replace trigger audit_update after update on %s referencing old table as before new table as after
           for each statement execute function audit.record_updates(%s)', parent, arguments);
      execute format(
        'create or replace trigger audit_begin before insert or update or delete on %s for each statement execute function app_hidden.note_parent(%L)',
        parent, 'audit ' || root);
      execute format(
        'create or replace trigger audit_end after insert or update or delete on %s for each statement execute function app_hidden.note_parent(%L)',
        parent, 'audit ' || root);
    end loop;
    if is_partitioned then
      execute format(
        'create or replace trigger audit_row after insert or update or delete on %s for each row
           when (coalesce((nullif(current_setting(''recording.parents'', true), '''')::jsonb ->> (%L || pg_trigger_depth()))::int, 0) = 0)
           execute function audit.record_update(%s)', root, 'audit ' || root || ' ', arguments);
    else
      -- Rows are compared as they are kept: not every type has an equality.
      execute format(
        'create or replace trigger audit_update after update on %s
           for each row when %s execute function audit.record_update(%s)', root, coalesce(condition, '(old.* *<> new.*)'), arguments);
    end if;
  end
  $function$;
comment on function audit.record(regclass,name,name,name[],name[]) is 'Begins to record what changes in a table; of a partition that is its parent. Again: what is not given stays. `subject_id` is the column of the person whom a row belongs to, `row_id` the one that names the row; of `secrets` only the names are recorded; `derived` columns follow from others, as generated ones do, and are not recorded.';
