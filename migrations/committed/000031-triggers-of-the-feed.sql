--! Previous: sha1:29976f54a2e5ca34452f1295855c465016133d8c
--! Hash: sha1:5a1e3f1da34f92d03cf0190dd16a5ca901d872e4
--! Message: triggers of the feed

-- What writes the change feed: feed.follow gives a table its triggers. They run with the rights of graph_helper, since no client role may
-- write it. Inserts and deletes come by the thousand: one statement records all of them.
--
-- The origin of a change is a constant of each plan. The columns of the key are arguments of the trigger. So nothing is parsed for each
-- row. Nothing is planned either: without plan_cache_mode PostgreSQL planned a look-up in the catalogue anew for each statement, which
-- took a fifth of userCreate.
--
-- A partitioned table is followed by statements, which know both rows of one that moves to another partition. A statement fires triggers of
-- the table that it names, and of no other. What names a partition is followed row by row: PostgreSQL gives each partition such a trigger when it is
-- attached, and takes it away when it is detached. This trigger is quiet while a statement that names a parent is at work.

-- Statements are counted by the depth of the trigger that they are in, so that one in a trigger may name a partition. What a foreign key does
-- ends its statement with the one that caused it, a level above.
create function app_hidden.note_parent() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
  as $$
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
  $$;
comment on function app_hidden.note_parent() is
  'Counts in recording.parents the statements at work that name a parent of partitions, by its argument and the depth of triggers.';

create function app_hidden.is_backfill(relation oid) returns boolean
  language plpgsql stable set search_path = pg_catalog, pg_temp
  as $$
  begin
    -- Every role may set this setting. So the session has to be one of the table's owner, whom no definer takes the place of.
    return current_setting('recording.backfill', true) = relation::text
      and pg_has_role(
        coalesce(nullif(current_setting('role'), 'none'), session_user)::name,
        (select c.relowner from pg_class c where c.oid = relation), 'member');
  end
  $$;
comment on function app_hidden.is_backfill(oid) is 'Whether audit.backfill updates this table now: neither history nor feed has that.';

-- A partition may have triggers for statements from before it was attached, and a former parent those from before it was detached.
create function app_hidden.has_row_trigger(parent oid, name name) returns boolean
  language plpgsql stable set search_path = pg_catalog, pg_temp
  as $$
  begin
    return exists (
      select from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where t.tgrelid = parent and t.tgname = has_row_trigger.name and c.relkind = 'p');
  end
  $$;
comment on function app_hidden.has_row_trigger(oid, name) is
  'Whether a table is a parent of partitions that have this trigger for each row.';

grant execute on function app_hidden.is_backfill(oid), app_hidden.has_row_trigger(oid, name) to graph_helper;

create function feed.next_horizon(organization_ids uuid[]) returns xid8
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    own xid8 = pg_current_xact_id();
  begin
    -- Mostly no transaction that began later has ended by now.
    if pg_snapshot_xmax(pg_current_snapshot()) <= own then
      return own;
    end if;
    -- A greater horizon is of a transaction that began later, so that it has written later.
    return coalesce(
      (
        select max(next.horizon)
        from unnest(next_horizon.organization_ids) as o (id)
        cross join lateral (
          select max(c.horizon) as horizon
          from feed.changes c
          where c.organization_id = o.id and c.horizon > own and c.origin = (select feed.origin())
            and c.at >= transaction_timestamp() - interval '1 minute') as next
      ),
      own);
  end
  $$;
comment on function feed.next_horizon(uuid[]) is
  'The horizon of changes that a statement has written now: no less than that of any change of these organizations that is committed.';
grant execute on function feed.next_horizon(uuid[]) to graph_helper;

-- Parsed when it is made, and so without a setting: PostgreSQL writes it into the statement that calls it.
create function feed.entries_of(given text[], ignored text[], identifying text[], old_value jsonb, new_value jsonb)
  returns table (step int, organization_id uuid, relation text, type text, key text[], operation text, columns text[], related jsonb)
  language sql stable
  begin atomic
    select
      e.step, (e.value ->> 'organization_id')::uuid, given[0], e.value ->> given[1],
      array(select e.value ->> name from unnest(given[4:]) as name), e.operation, e.columns,
      (select jsonb_object_agg(name, e.value ->> name) from unnest(given[3]::text[]) as name where e.value ? name)
    from (
      select case when old_value is not null and new_value is not null then
        array(
          select name from jsonb_each(new_value) as now (name, value)
          where old_value -> name is distinct from value and name <> all (ignored) order by name)
      end as names
      offset 0
    ) as changed
    -- A change of the key, the type or the organization is the deletion of one object and the creation of another.
    cross join lateral (
      select 1 as step, 'UPDATE' as operation, new_value as value, changed.names as columns
      where changed.names <> '{}' and not changed.names && (identifying || array['organization_id', given[1]])
      union all
      select 2, 'DELETE', old_value, '{}'
      where new_value is null or changed.names && (identifying || array['organization_id', given[1]])
      union all
      select 3, 'CREATE', new_value, '{}'
      where old_value is null or changed.names && (identifying || array['organization_id', given[1]])
    ) as e;
  end;
comment on function feed.entries_of(text[], text[], text[], jsonb, jsonb) is
  'What the feed says of a row as it was and is; `given` are the arguments of its triggers.';

-- Ignored columns are those of a trigger that never runs, follow_columns: PostgreSQL keeps them by number, so that they may be renamed.
create function feed.ignored(relation oid, given text) returns text[]
  language plpgsql stable set search_path = pg_catalog, pg_temp
  as $$
  declare
    numbers int2[] = '{}';
  begin
    if given <> '0' then
      select coalesce(t.tgattr::int2[], '{}') into numbers from pg_trigger t where t.tgrelid = relation and t.tgname = 'follow_columns';
    end if;
    -- Generated columns are looked up now, since any may be added later.
    return '{updated_at}' || array(
      select a.attname::text from pg_attribute a
      where a.attrelid = relation and a.attnum > 0 and (a.attgenerated <> '' or a.attnum = any (numbers)));
  end
  $$;
comment on function feed.ignored(oid, text) is
  'The columns whose change is none, by their present names; without a look for given ones where there are none.';

-- A partitioned table has in its key the columns that say in which partition a row is. A change of these is an update, not another object.
create function feed.identifying(relation oid, names text[]) returns text[]
  language plpgsql stable set search_path = pg_catalog, pg_temp
  as $$
  begin
    return coalesce(
      nullif(
        array(
          select name from unnest(names) as name
          where name not in (
            select a.attname::text
            from pg_partition_tree(pg_partition_root(relation)) t
            join pg_partitioned_table p on p.partrelid = t.relid
            join pg_attribute a on a.attrelid = p.partrelid and a.attnum = any (p.partattrs::int2[]))),
        '{}'),
      names);
  end
  $$;
comment on function feed.identifying(oid, text[]) is 'Those columns of a key that say which object a row is: all but those that a partitioned table is partitioned by.';
grant execute on function feed.entries_of(text[], text[], text[], jsonb, jsonb), feed.ignored(oid, text), feed.identifying(oid, text[])
  to graph_helper;

-- Arguments of all triggers: the relation, the column of the type or '', the number of ignored columns, those that refer to others, and
-- those of the key. The settings are for the texts of values in JSON: those of a session may cut numbers.
create function feed.record_rows() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set row_security = on
  set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex' set extra_float_digits = 1
  as $$
  begin
    -- Runs as graph_helper because no client role has a right to write the feed.
    if pg_partition_root(tg_relid) is not null and not app_hidden.has_row_trigger(tg_relid, 'follow_row') then
      return null;
    end if;
    -- A foreign key deletes in every table that refers to a row, and mostly nothing.
    if tg_op = 'DELETE' then
      if not exists (select from affected) then
        return null;
      end if;
    end if;
    if tg_argv[1] = '' and tg_argv[3] = '{}' and tg_nargs = 5 and tg_argv[4] = 'id' then
      -- Of a usual table. To name its columns takes less time than a row as JSON.
      insert into feed.changes (origin, horizon, organization_id, relation, key, operation, columns)
      select
        feed.origin(), (select feed.next_horizon(array(select distinct a.organization_id from affected a))), r.organization_id, tg_argv[0],
        array[to_jsonb(r.id) #>> '{}'], case tg_op when 'INSERT' then 'CREATE' else tg_op end, '{}'
      from affected r;
    else
      insert into feed.changes (origin, horizon, organization_id, relation, type, key, operation, columns, related)
      select
        feed.origin(), (select feed.next_horizon(array(select distinct a.organization_id from affected a))),
        e.organization_id, e.relation, e.type, e.key, e.operation, e.columns, e.related
      from (select app_hidden.row_values(r) as value from affected r offset 0) as w
      cross join lateral feed.entries_of(
        tg_argv, '{}', '{}', case tg_op when 'DELETE' then w.value end, case tg_op when 'INSERT' then w.value end) as e;
    end if;
    return null;
  end
  $$;
comment on function feed.record_rows() is 'Adds the rows that a statement has inserted or deleted to the feed.';

-- An old row and its new one have the same place in the two tables of the statement: PostgreSQL adds to both at once. A window pairs them without a
-- join, whose plan might be of few rows. A partition whose trigger lets a row vanish would leave one without the other: then these are no updates.
create function feed.record_updates() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set row_security = on
  set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex' set extra_float_digits = 1
  as $$
  declare
    root oid = pg_partition_root(tg_relid);
    ignored text[] = feed.ignored(root, tg_argv[2]);
    identifying text[] = feed.identifying(tg_relid, tg_argv[4:]);
    is_paired boolean = (select count(*) from before) = (select count(*) from after);
  begin
    -- Runs as graph_helper because no client role has a right to write the feed.
    if not app_hidden.has_row_trigger(tg_relid, 'follow_row')
      or coalesce(current_setting('recording.backfill', true), '') <> '' and app_hidden.is_backfill(root)
    then
      return null;
    end if;
    insert into feed.changes (origin, horizon, organization_id, relation, type, key, operation, columns, related)
    select
      feed.origin(), (select feed.next_horizon(array(select organization_id from before union select organization_id from after))),
      e.organization_id, e.relation, e.type, e.key, e.operation, e.columns, e.related
    from (
      select
        place, is_new, case when is_new then value end as new_value,
        case when is_paired then lag(value) over (partition by place order by is_new) when not is_new then value end as old_value
      from (
        select row_number() over () as place, false as is_new, app_hidden.row_values(b) as value from before b
        union all
        select row_number() over () + case when is_paired then 0 else (select count(*) from before) end, true, app_hidden.row_values(a)
        from after a
      ) as rows
    ) as pairs
    cross join lateral feed.entries_of(tg_argv, ignored, identifying, old_value, new_value) as e
    where is_new or not is_paired
    order by place, e.step;
    return null;
  end
  $$;
comment on function feed.record_updates() is 'Adds the rows of a partitioned table that a statement has changed to the feed, those that it moved included.';

create function feed.record_row() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set row_security = on
  set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex' set extra_float_digits = 1
  as $$
  declare
    root oid = coalesce(pg_partition_root(tg_relid), tg_relid);
    identifying text[] = tg_argv[4:];
    ignored text[] = '{}';
    old_value jsonb = app_hidden.row_values(old);
    new_value jsonb = app_hidden.row_values(new);
  begin
    -- Runs as graph_helper because no client role has a right to write the feed.
    if tg_op = 'UPDATE' then
      -- Followed before it became a partition.
      if tg_name <> 'follow_row' and root <> tg_relid
        or coalesce(current_setting('recording.backfill', true), '') <> '' and app_hidden.is_backfill(root)
      then
        return null;
      end if;
      ignored = feed.ignored(root, tg_argv[2]);
    end if;
    if root <> tg_relid then
      identifying = feed.identifying(tg_relid, identifying);
    end if;
    insert into feed.changes (origin, horizon, organization_id, relation, type, key, operation, columns, related)
    select
      feed.origin(), feed.next_horizon(array[e.organization_id]), e.organization_id, e.relation, e.type, e.key, e.operation, e.columns, e.related
    from feed.entries_of(tg_argv, ignored, identifying, old_value, new_value) as e
    order by e.step;
    return null;
  end
  $$;
comment on function feed.record_row() is
  'Adds a row that was changed to the feed; of a partition that was named also one that was inserted or deleted.';
grant create on schema feed to graph_helper;
alter function feed.record_rows() owner to graph_helper;
alter function feed.record_row() owner to graph_helper;
alter function feed.record_updates() owner to graph_helper;
revoke create on schema feed from graph_helper;

create function feed.follow(followed regclass, shown regclass default null, ignored name[] default null) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp set quote_all_identifiers = off set standard_conforming_strings = on
  as $$
  declare
    -- A partition is followed with its parent.
    root regclass = coalesce(pg_partition_root(followed), followed);
    -- As it is followed already.
    known text = (
      select convert_from(decode(split_part(encode(t.tgargs, 'escape'), '\000', 1), 'escape'), 'UTF8') from pg_trigger t
      where t.tgrelid = root and t.tgname = 'follow_insert');
    condition text = (
      select (regexp_match(pg_get_triggerdef(t.oid), ' WHEN (\(.*\)) EXECUTE '))[1] from pg_trigger t
      where t.tgrelid = root and t.tgfoid = 'feed.record_row'::regproc and t.tgparentid = 0);
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
    arguments text;
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
    arguments = format('%L, %L, %L, %L, %s', relation, type_column, cardinality(ignored_columns), related, key);
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
           for each statement execute function feed.record_rows(%s)', parent, arguments);
      execute format(
        'create or replace trigger follow_delete after delete on %s referencing old table as affected
           for each statement execute function feed.record_rows(%s)', parent, arguments);
      continue when not exists (select from pg_class where oid = parent and relkind = 'p');
      execute format(
        'create or replace trigger follow_update after update on %s referencing old table as before new table as after
           for each statement execute function feed.record_updates(%s)', parent, arguments);
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
           execute function feed.record_row(%s)', root, 'feed ' || relation || ' ', arguments);
    else
      execute format(
        'create or replace trigger follow_update after update on %s
           for each row when %s execute function feed.record_row(%s)', root, coalesce(condition, '(old.* *<> new.*)'), arguments);
    end if;
  end
  $$;
comment on function feed.follow(regclass, regclass, name[]) is
  'Adds what changes in a table to the feed; of a partition that is its parent. Again: what is not given stays, and the condition of the trigger. `shown` is the view by which its rows are in the graph, if it is not the table itself; a change of '
  '`ignored` columns alone is none, nor is one of `updated_at` or of generated columns.';

create function feed.followed() returns setof text
  language sql stable set search_path = pg_catalog, pg_temp set standard_conforming_strings = on
  as $$
    -- The first argument of the trigger.
    select distinct split_part(encode(t.tgargs, 'escape'), '\000', 1)
    from pg_trigger t
    where t.tgname = 'follow_insert' and t.tgfoid = 'feed.record_rows'::regproc and not t.tgisinternal
  $$;
comment on function feed.followed() is 'The tables and views that feed.follow has added to the feed.';
grant execute on function feed.followed() to graph_app;
