CREATE OR REPLACE FUNCTION app_hidden.set_updated_at()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    others constant text[] = coalesce(tg_argv, '{}')
      || array(select a.attname::text from pg_attribute a where a.attrelid = tg_relid and a.attnum > 0 and a.attgenerated <> '');
    is_changed boolean;
  begin
    begin
      is_changed = to_jsonb(new) - others <> to_jsonb(old) - others;
    exception when data_exception or program_limit_exceeded then
      is_changed = app_hidden.row_values(new) - others <> app_hidden.row_values(old) - others;
    end;
    if is_changed then
      new.updated_at := clock_timestamp();
    end if;
    return new;
  end
  $function$;
comment on function app_hidden.set_updated_at() is 'Notes when a row was changed, unless nothing of it is; its arguments are columns that do not count, as generated ones do not.';
