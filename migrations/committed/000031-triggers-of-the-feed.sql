--! Previous: sha1:21d04d42d475ee83c75204a5f925a511b86ea7e5
--! Hash: sha1:d1ed91d0d8096d5e245870d11e7fc979f7979795
--! Message: triggers of the feed

-- What writes the change feed: feed.follow gives a table its triggers. They run with the rights of graph_helper, since no client role may
-- write it. Inserts and deletes come by the thousand: one statement records all of them.
--
-- The origin of a change is a constant of each plan. The operation and the columns of the key are arguments of the trigger.
-- So nothing is parsed for each row. Nothing is planned either: without plan_cache_mode PostgreSQL planned a look-up in the catalogue anew
-- for each statement, which took a fifth of userCreate.
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
grant execute on function app_hidden.is_backfill(oid) to graph_helper;

create function feed.related_of(value jsonb, names text[]) returns jsonb
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$ select jsonb_object_agg(name, value ->> name) from unnest(names) as name where value ? name $$;
comment on function feed.related_of(jsonb, text[]) is 'Those columns of a row by which it refers to others; null without one.';
grant execute on function feed.related_of(jsonb, text[]) to graph_helper;

create function feed.next_horizon(organization_id uuid) returns xid8
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
        select max(c.horizon)
        from feed.changes c
        where c.organization_id = next_horizon.organization_id and c.horizon > own and c.origin = (select feed.origin())
          and c.at >= transaction_timestamp() - interval '1 minute'
      ),
      own);
  end
  $$;
comment on function feed.next_horizon(uuid) is 'The horizon of a change that is written now: no less than that of any change that is committed.';
grant execute on function feed.next_horizon(uuid) to graph_helper;

-- Arguments of the trigger: the relation, the operation, the column of the type or '', the columns that refer to others, and those of the key.
create function feed.record_rows() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set row_security = on
  set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex' set extra_float_digits = 1
  as $$
  begin
    -- One that was attached or detached after it was followed.
    if pg_partition_root(tg_relid) is not null
      and not exists (select from pg_trigger t join pg_class c on c.oid = t.tgrelid where t.tgrelid = tg_relid and t.tgname = 'follow_row' and c.relkind = 'p')
    then
      return null;
    end if;
    -- Runs as graph_helper because no client role has a right to write the feed. Set-based: one insert records all rows of a bulk statement.
    -- The two usual tables name their columns, which takes less time than a row as JSON.
    if tg_nargs = 5 and tg_argv[2] = '' and tg_argv[3] = '{}' and tg_argv[4] = 'id' then
      insert into feed.changes (origin, horizon, organization_id, relation, key, operation, columns)
      select feed.origin(), feed.next_horizon(r.organization_id), r.organization_id, tg_argv[0], array[to_jsonb(r.id) #>> '{}'], tg_argv[1], '{}'
      from affected r;
    elsif tg_nargs = 5 and tg_argv[2] = 'type' and tg_argv[3] = '{}' and tg_argv[4] = 'id' then
      insert into feed.changes (origin, horizon, organization_id, relation, type, key, operation, columns)
      select
        feed.origin(), feed.next_horizon(r.organization_id), r.organization_id, tg_argv[0], to_jsonb(r.type) #>> '{}', array[to_jsonb(r.id) #>> '{}'],
        tg_argv[1], '{}'
      from affected r;
    else
      -- `offset 0` makes each value once, not for each mention.
      insert into feed.changes (origin, horizon, organization_id, relation, type, key, operation, columns, related)
      select feed.origin(), feed.next_horizon(organization_id), organization_id, tg_argv[0], value ->> tg_argv[2],
        array(select value ->> name from unnest(tg_argv[4:]) as name), tg_argv[1], '{}', feed.related_of(value, tg_argv[3]::text[])
      from (select r.organization_id, app_hidden.row_values(r) as value from affected r offset 0) as rows;
    end if;
    return null;
  end
  $$;
comment on function feed.record_rows() is 'Adds the rows that a statement has inserted or deleted to the feed.';

-- Of a row that changed: what is changed by which columns. A partitioned table has in its key the columns that say in which partition a row is.
-- A change of these is an update, not another object.
create function feed.identifying(relation oid, names text[]) returns text[]
  language plpgsql stable set search_path = pg_catalog, pg_temp
  as $$
  begin
    if pg_partition_root(relation) is null then
      return names;
    end if;
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
grant execute on function feed.identifying(oid, text[]) to graph_helper;

-- Ignored columns are those of a trigger that never runs, follow_columns: PostgreSQL keeps them by number, so that they may be renamed.

-- Arguments of the trigger: those of feed.record_update.
-- An old row and its new one have the same place in the two tables of the statement: PostgreSQL adds to both at once. A window pairs them without a
-- join, whose plan might be of few rows. A partition whose trigger lets a row vanish would leave one without the other: then these are no updates.
create function feed.record_updates() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set row_security = on
  set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex' set extra_float_digits = 1
  as $$
  declare
    type_column text = tg_argv[1];
    related text[] = tg_argv[3];
    names text[] = tg_argv[4:];
    identifying text[] = feed.identifying(tg_relid, tg_argv[4:]) || array['organization_id', type_column];
    root oid = pg_partition_root(tg_relid);
    ignored text[] = '{updated_at}' || array(
      select a.attname::text from pg_attribute a
      where a.attrelid = root and a.attnum > 0
        and (a.attgenerated <> ''
          or a.attnum = any ((select t.tgattr from pg_trigger t where t.tgrelid = root and t.tgname = 'follow_columns')::int2[])));
    is_paired boolean = (select count(*) from before) = (select count(*) from after);
  begin
    if not exists (select from pg_trigger t where t.tgrelid = tg_relid and t.tgname = 'follow_row')
      or current_setting('recording.backfill', true) <> '' and app_hidden.is_backfill(root)
    then
      return null;
    end if;
    -- Runs as graph_helper because no client role has a right to write the feed.
    insert into feed.changes (origin, horizon, organization_id, relation, type, key, operation, columns, related)
    select
      feed.origin(), feed.next_horizon(made.organization_id), made.organization_id, tg_argv[0], made.value ->> type_column,
      array(select made.value ->> name from unnest(names) as name), made.operation, made.columns, feed.related_of(made.value, related)
    from (
      select
        place, old_value, value,
        array(
          select key from jsonb_each(value) as e (key, now) where old_value -> key is distinct from now and key <> all (ignored) order by key) as columns
      from (
        select
          place, is_new, lag(rows.value) over (partition by place order by is_new) as old_value, rows.value
        from (
          select row_number() over () as place, false as is_new, app_hidden.row_values(b) as value from before b
          union all
          select row_number() over () + case when is_paired then 0 else (select count(*) from before) end, true, app_hidden.row_values(a) from after a
        ) as rows
      ) as pairs
      where is_new or not is_paired
      offset 0
    ) as changed
    cross join lateral (
      select 1 as step, 'UPDATE' as operation, (value ->> 'organization_id')::uuid as organization_id, value, columns
      where is_paired and not columns && identifying
      union all
      select 2, 'DELETE', (old_value ->> 'organization_id')::uuid, old_value, '{}'
      where is_paired and columns && identifying
      union all
      select 3, 'CREATE', (value ->> 'organization_id')::uuid, value, '{}'
      where is_paired and columns && identifying
      union all
      select 4, case when place <= (select count(*) from before) then 'DELETE' else 'CREATE' end, (value ->> 'organization_id')::uuid, value, '{}'
      where not is_paired
    ) as made
    where changed.columns <> '{}'
    order by place, step;
    return null;
  end
  $$;
comment on function feed.record_updates() is 'Adds the rows of a partitioned table that a statement has changed to the feed, those that it moved included.';

-- Arguments of the trigger: the relation, the column of the type or '', the number of ignored columns, those that refer to others, and
-- those of the key.
create function feed.record_update() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set row_security = on
  set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex' set extra_float_digits = 1
  as $$
  declare
    type_column text = tg_argv[1];
    ignored int2[] = '{}';
    related text[] = tg_argv[3];
    names text[] = tg_argv[4:];
    root oid = coalesce(pg_partition_root(tg_relid), tg_relid);
    old_value jsonb;
    new_value jsonb;
    changed text[];
  begin
    -- Followed before it became a partition.
    if tg_name <> 'follow_row' and root <> tg_relid
      or tg_op = 'UPDATE' and current_setting('recording.backfill', true) <> '' and app_hidden.is_backfill(root)
    then
      return null;
    end if;
    begin
      old_value = to_jsonb(old);
      new_value = to_jsonb(new);
    exception when data_exception or program_limit_exceeded then
      old_value = app_hidden.row_values(old);
      new_value = app_hidden.row_values(new);
    end;
    -- Of a partition.
    if tg_op <> 'UPDATE' then
      insert into feed.changes (origin, horizon, organization_id, relation, type, key, operation, columns, related)
      select
        feed.origin(), feed.next_horizon(organization_id), organization_id, tg_argv[0], value ->> type_column,
        array(select value ->> name from unnest(names) as name), case tg_op when 'INSERT' then 'CREATE' else 'DELETE' end, '{}',
        feed.related_of(value, related)
      from (select (coalesce(new_value, old_value) ->> 'organization_id')::uuid as organization_id, coalesce(new_value, old_value) as value) as written;
      return null;
    end if;
    if tg_argv[2] <> '0' then
      ignored = coalesce((select t.tgattr from pg_trigger t where t.tgrelid = root and t.tgname = 'follow_columns')::int2[], '{}');
    end if;
    -- Generated columns are looked up now, since any may be added later.
    changed = array(
      select key
      from jsonb_each(new_value) as e (key, value)
      where old_value -> key is distinct from value and key <> 'updated_at'
        and (select a.attgenerated = '' and a.attnum <> all (ignored) from pg_attribute a where a.attrelid = root and a.attname = key::name)
      order by key);
    if changed = '{}' then
      return null;
    end if;
    -- Runs as graph_helper because no client role has a right to write the feed.
    -- A change of the key, the type or the organization is the deletion of one object and the creation of another.
    if not changed && (feed.identifying(tg_relid, names) || array['organization_id', type_column]) then
      insert into feed.changes (origin, horizon, organization_id, relation, type, key, operation, columns, related)
      values (
        feed.origin(), feed.next_horizon(new.organization_id), new.organization_id, tg_argv[0], new_value ->> type_column,
        array(select new_value ->> name from unnest(names) as name), 'UPDATE', changed, feed.related_of(new_value, related));
    else
      insert into feed.changes (origin, horizon, organization_id, relation, type, key, operation, columns, related)
      select
        feed.origin(), feed.next_horizon(organization_id), organization_id, tg_argv[0], value ->> type_column,
        array(select value ->> name from unnest(names) as name), operation, '{}', feed.related_of(value, related)
      from (values (1, 'DELETE', old.organization_id, old_value), (2, 'CREATE', new.organization_id, new_value)) as made (place, operation, organization_id, value)
      order by place;
    end if;
    return null;
  end
  $$;
comment on function feed.record_update() is 'Adds a row that was changed to the feed; of a partition that was named also one that was inserted or deleted.';
grant create on schema feed to graph_helper;
alter function feed.record_rows() owner to graph_helper;
alter function feed.record_update() owner to graph_helper;
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
  $$;
comment on function feed.follow(regclass, regclass, name[]) is
  'Adds what changes in a table to the feed; of a partition that is its parent. Again: what is not given stays. `shown` is the view by which its rows are in the graph, if it is not the table itself; a change of '
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
