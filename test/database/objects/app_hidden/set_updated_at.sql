CREATE OR REPLACE FUNCTION app_hidden.set_updated_at()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    others constant text[] = coalesce(tg_argv, '{}');
  begin
    if to_jsonb(new) - others <> to_jsonb(old) - others then
      new.updated_at := clock_timestamp();
    end if;
    return new;
  end
  $function$;
comment on function app_hidden.set_updated_at() is 'Notes when a row was changed, unless nothing of it is; its arguments are columns that do not count.';
