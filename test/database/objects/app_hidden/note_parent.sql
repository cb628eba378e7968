CREATE OR REPLACE FUNCTION app_hidden.note_parent()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    counts jsonb = coalesce(nullif(current_setting('recording.parents', true), ''), '{}');
    depth int = pg_trigger_depth() - 1;
    step int = case tg_when when 'BEFORE' then 1 else -1 end;
    name text;
  begin
    if step < 0 and coalesce((counts ->> format('%s %s', tg_argv[0], depth))::int, 0) = 0 then
      depth = depth + 1;
    end if;
    name = format('%s %s', tg_argv[0], depth);
    perform set_config('recording.parents', (counts || jsonb_build_object(name, coalesce((counts ->> name)::int, 0) + step))::text, true);
    return null;
  end
  $function$;
comment on function app_hidden.note_parent() is 'Counts in recording.parents the statements at work that name a parent of partitions, by its argument and the depth of triggers.';
