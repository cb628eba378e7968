CREATE OR REPLACE FUNCTION audit.record(relation regclass, subject_id name DEFAULT 'id'::name, row_id name DEFAULT 'id'::name, secrets name[] DEFAULT '{}'::name[], derived name[] DEFAULT '{}'::name[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    arguments text = format('%L, %L, %L, %L', subject_id, row_id, secrets, derived);
    missing text = (
      select string_agg(wanted, ', ')
      from unnest(array[subject_id, row_id] || secrets || derived) as wanted
      where wanted not in (select attname from pg_attribute where attrelid = relation and attnum > 0 and not attisdropped));
  begin
    if missing is not null then
      raise undefined_column using message = format('%s has no column %s', relation, missing);
    end if;
    execute format(
      'create or replace trigger audit_insert after insert on %s referencing new table as inserted
         for each statement execute function audit.record_rows(%s)', relation, arguments);
    -- Rows are compared as they are kept: not every type has an equality.
    execute format(
      'create or replace trigger audit_update after update on %s
         for each row when (old.* *<> new.*) execute function audit.record_update(%s)', relation, arguments);
    execute format(
      'create or replace trigger audit_delete after delete on %s referencing old table as deleted
         for each statement execute function audit.record_rows(%s)', relation, arguments);
  end
  $function$;
comment on function audit.record(regclass,name,name,name[],name[]) is 'Begins to record what changes in a table. `subject_id` is the column of the person whom a row belongs to, `row_id` the one that names the row; of `secrets` only the names are recorded; `derived` columns follow from others, as generated ones do, and are not recorded.';
