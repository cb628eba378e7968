CREATE OR REPLACE FUNCTION feed.follow(followed regclass, shown regclass DEFAULT NULL::regclass, ignored name[] DEFAULT NULL::name[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET quote_all_identifiers TO 'off'
 SET standard_conforming_strings TO 'on'
AS $function$
  declare
    -- A partition is followed with its parent.
    root regclass = coalesce(pg_partition_root(followed), followed);
    -- As it is followed already.
    known text = (
      select convert_from(decode(split_part(encode(t.tgargs, 'escape'), '\000', 1), 'escape'), 'UTF8') from pg_trigger t
      where t.tgrelid = root and t.tgfoid = 'feed.record_update'::regproc and t.tgparentid = 0);
    -- Another table may have the name that this one had.
    shown_by regclass = coalesce(follow.shown, (select c.oid from pg_class c where c.oid = to_regclass(known) and c.relkind = 'v'), root);
    ignored_columns name[] = array_remove(
      coalesce(
        follow.ignored,
        array(
          select a.attname from pg_trigger t join pg_attribute a on a.attrelid = root and a.attnum = any (t.tgattr::int2[])
          where t.tgrelid = root and t.tgname = 'follow_columns'
          order by a.attnum)),
      'updated_at');
    key text = (
      select string_agg(quote_literal(a.attname), ', ' order by k.place)
      from pg_index i
      cross join lateral unnest((i.indkey::int2[])[0:i.indnkeyatts - 1]) with ordinality as k (attnum, place)
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
      where i.indrelid = root and i.indisprimary and a.attname <> 'organization_id');
    -- Foreign keys by their columns, and the columns that name the type of what they refer to.
    related text[] = array(
      select distinct column_name
      from pg_constraint k
      cross join lateral (
        select a.attname::text from pg_attribute a where a.attrelid = root and a.attnum = any (k.conkey)
        union all
        select (regexp_match(obj_description(k.oid, 'pg_constraint'), '^@relatedType (\w+)', 'n'))[1]
      ) as columns (column_name)
      where k.conrelid = root and k.contype = 'f' and k.conparentid = 0 and column_name <> 'organization_id'
      order by 1);
    relation text;
    type_column text;
    missing text = (
      select string_agg(distinct wanted, ', ')
      from unnest('{organization_id}' || follow.ignored) as wanted
      where wanted not in (select attname from pg_attribute where attrelid = root and attnum > 0 and not attisdropped));
    update_arguments text;
    parent regclass;
  begin
    if not exists (select from pg_class where oid = shown_by and relnamespace = 'app_public'::regnamespace) then
      raise undefined_table using message = format('%s is not in the graph', shown_by), hint = 'Name the view of app_public that shows it.';
    end if;
    if missing is not null then
      raise undefined_column using message = format('%s has no column %s', root, missing);
    end if;
    if key is null then
      raise undefined_object using message = format('%s has no primary key', root), hint = 'A change names its row by that.';
    end if;
    select format('%I.%I', n.nspname, c.relname),
        coalesce((regexp_match(obj_description(c.oid, 'pg_class'), '^@interface [^\n]*\mtype:(\w+)', 'n'))[1], '')
      into relation, type_column
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where c.oid = shown_by;
    update_arguments = format(
      '%L, %L, %L, %L, %s', relation, type_column, cardinality(ignored_columns), related, key);
    if ignored_columns <> '{}' then
      execute format(
        'create or replace trigger follow_columns after update of %s on %s
           for each statement when (false) execute function suppress_redundant_updates_trigger()',
        (select string_agg(quote_ident(c), ', ') from unnest(ignored_columns) as c), root);
    elsif exists (select from pg_trigger t where t.tgrelid = root and t.tgname = 'follow_columns') then
      execute format('drop trigger follow_columns on %s', root);
    end if;
    foreach parent in array array(select root union all select t.relid from pg_partition_tree(root) t where not t.isleaf and t.relid <> root) loop
      execute format(
        'create or replace trigger follow_insert after insert on %s referencing new table as affected
           for each statement execute function feed.record_rows(%L, %L, %L, %L, %s)', parent, relation, 'CREATE', type_column, related, key);
      execute format(
        'create or replace trigger follow_delete after delete on %s referencing old table as affected
           for each statement execute function feed.record_rows(%L, %L, %L, %L, %s)', parent, relation, 'DELETE', type_column, related, key);
      continue when not exists (select from pg_class where oid = parent and relkind = 'p');
      execute format(
        'create or replace trigger follow_update after update on %s referencing old table as before new table as after
           for each statement execute function feed.record_updates(%s)', parent, update_arguments);
      execute format(
        'create or replace trigger follow_begin before insert or update or delete on %s for each statement execute function app_hidden.note_parent(%L)',
        parent, 'feed ' || relation);
      execute format(
        'create or replace trigger follow_end after insert or update or delete on %s for each statement execute function app_hidden.note_parent(%L)',
        parent, 'feed ' || relation);
    end loop;
    if exists (select from pg_class where oid = root and relkind = 'p') then
      execute format(
        'create or replace trigger follow_row after insert or update or delete on %s for each row
           when (coalesce((nullif(current_setting(''recording.parents'', true), '''')::jsonb ->> (%L || pg_trigger_depth()))::int, 0) = 0)
           execute function feed.record_update(%s)', root, 'feed ' || relation || ' ', update_arguments);
    else
      execute format(
        'create or replace trigger follow_update after update on %s
           for each row when (old.* *<> new.*) execute function feed.record_update(%s)', root, update_arguments);
    end if;
  end
  $function$;
comment on function feed.follow(regclass,regclass,name[]) is 'Adds what changes in a table to the feed; of a partition that is its parent. Again: what is not given stays. `shown` is the view by which its rows are in the graph, if it is not the table itself; a change of `ignored` columns alone is none, nor is one of `updated_at` or of generated columns.';
