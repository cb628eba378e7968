CREATE OR REPLACE FUNCTION feed.follow(followed regclass, shown regclass DEFAULT NULL::regclass, ignored name[] DEFAULT '{}'::name[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    key text = (
      select string_agg(quote_literal(a.attname), ', ' order by k.place)
      from pg_index i
      cross join lateral unnest(i.indkey::int2[]) with ordinality as k (attnum, place)
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
      where i.indrelid = followed and i.indisprimary and a.attname <> 'organization_id');
    relation text;
    type_column text;
    missing text = (
      select string_agg(wanted, ', ')
      from unnest('{organization_id}' || ignored) as wanted
      where wanted not in (select attname from pg_attribute where attrelid = followed and attnum > 0 and not attisdropped));
  begin
    if not exists (select from pg_class where oid = coalesce(shown, followed) and relnamespace = 'app_public'::regnamespace) then
      raise undefined_table using message = format('%s is not in the graph', coalesce(shown, followed)), hint = 'Name the view of app_public that shows it.';
    end if;
    if missing is not null then
      raise undefined_column using message = format('%s has no column %s', followed, missing);
    end if;
    if key is null then
      raise undefined_object using message = format('%s has no primary key', followed), hint = 'A change names its row by that.';
    end if;
    select format('%I.%I', n.nspname, c.relname),
        coalesce((regexp_match(obj_description(c.oid, 'pg_class'), '^@interface [^\n]*\mtype:(\w+)', 'n'))[1], '')
      into relation, type_column
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where c.oid = coalesce(shown, followed);
    execute format(
      'create or replace trigger follow_insert after insert on %s referencing new table as affected
         for each statement execute function feed.record_rows(%L, %L, %L, %s)', followed, relation, 'CREATE', type_column, key);
    execute format(
      'create or replace trigger follow_update after update on %s
         for each row when (old.* *<> new.*) execute function feed.record_update(%L, %L, %L, %s)',
      followed, relation, type_column, ignored || '{updated_at}', key);
    execute format(
      'create or replace trigger follow_delete after delete on %s referencing old table as affected
         for each statement execute function feed.record_rows(%L, %L, %L, %s)', followed, relation, 'DELETE', type_column, key);
  end
  $function$;
comment on function feed.follow(regclass,regclass,name[]) is 'Adds what changes in a table to the feed. `shown` is the view by which its rows are in the graph, if it is not the table itself; a change of `ignored` columns alone is none, nor is one of `updated_at` or of generated columns.';
