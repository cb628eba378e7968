--! Previous: sha1:2e47c49af80981f6411a7f9bc971ccce0fd85fbe
--! Hash: sha1:0d6961dc2579c283315ff65c457e0ff944e2afe9
--! Message: triggers of the feed

-- What writes the change feed: feed.follow gives a table its triggers. They run with the rights of graph_helper, since no client role may
-- write it. Inserts and deletes come by the thousand: one statement records all of them.
--
-- The origin of a change is a constant of each plan. The operation and the columns of the key are arguments of the trigger.
-- So nothing is parsed for each row.

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

-- Arguments of the trigger: the relation, the operation, the column of the type or '', and the columns of the key.
create function feed.record_rows() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
  begin
    -- Runs as graph_helper because no client role has a right to write the feed. Set-based: one insert records all rows of a bulk statement.
    if tg_nargs = 4 and tg_argv[2] = '' and tg_argv[3] = 'id' then
      insert into feed.changes (origin, horizon, organization_id, relation, key, operation, columns)
      select feed.origin(), feed.next_horizon(r.organization_id), r.organization_id, tg_argv[0], array[to_jsonb(r.id) #>> '{}'], tg_argv[1], '{}'
      from affected r;
    else
      -- `offset 0` makes each value once, not for each mention.
      insert into feed.changes (origin, horizon, organization_id, relation, type, key, operation, columns)
      select feed.origin(), feed.next_horizon(organization_id), organization_id, tg_argv[0], value ->> tg_argv[2],
        array(select value ->> name from unnest(tg_argv[3:]) as name), tg_argv[1], '{}'
      from (select r.organization_id, app_hidden.row_values(r) as value from affected r offset 0) as rows;
    end if;
    return null;
  end
  $$;
comment on function feed.record_rows() is 'Adds the rows that a statement has inserted or deleted to the feed.';

-- Arguments of the trigger: the relation, the column of the type or '', the ignored columns, and the columns of the key.
create function feed.record_update() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
  declare
    type_column text = tg_argv[1];
    ignored text[] = tg_argv[2];
    names text[] = tg_argv[3:];
    old_value jsonb;
    new_value jsonb;
    changed text[];
  begin
    begin
      old_value = to_jsonb(old);
      new_value = to_jsonb(new);
    exception when data_exception or program_limit_exceeded then
      old_value = app_hidden.row_values(old);
      new_value = app_hidden.row_values(new);
    end;
    -- Generated columns are looked up now, since any may be added later.
    changed = array(
      select key
      from jsonb_each(new_value) as e (key, value)
      where old_value -> key is distinct from value and key <> all (ignored)
        and (select a.attgenerated from pg_attribute a where a.attrelid = tg_relid and a.attname = key::name) = ''
      order by key);
    if changed = '{}' then
      return null;
    end if;
    -- Runs as graph_helper because no client role has a right to write the feed.
    -- A change of the key, the type or the organization is the deletion of one object and the creation of another.
    if not changed && (names || array['organization_id', type_column]) then
      insert into feed.changes (origin, horizon, organization_id, relation, type, key, operation, columns)
      values (
        feed.origin(), feed.next_horizon(new.organization_id), new.organization_id, tg_argv[0], new_value ->> type_column,
        array(select new_value ->> name from unnest(names) as name), 'UPDATE', changed);
    else
      insert into feed.changes (origin, horizon, organization_id, relation, type, key, operation, columns)
      select
        feed.origin(), feed.next_horizon(organization_id), organization_id, tg_argv[0], value ->> type_column,
        array(select value ->> name from unnest(names) as name), operation, '{}'
      from (values (1, 'DELETE', old.organization_id, old_value), (2, 'CREATE', new.organization_id, new_value)) as made (place, operation, organization_id, value)
      order by place;
    end if;
    return null;
  end
  $$;
comment on function feed.record_update() is 'Adds a row that was changed to the feed.';
grant create on schema feed to graph_helper;
alter function feed.record_rows() owner to graph_helper;
alter function feed.record_update() owner to graph_helper;
revoke create on schema feed from graph_helper;

create function feed.follow(followed regclass, shown regclass default null, ignored name[] default '{}') returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
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
  $$;
comment on function feed.follow(regclass, regclass, name[]) is
  'Adds what changes in a table to the feed. `shown` is the view by which its rows are in the graph, if it is not the table itself; a change of '
  '`ignored` columns alone is none, nor is one of `updated_at` or of generated columns.';

create function feed.followed() returns setof text
  language sql stable set search_path = pg_catalog, pg_temp
  as $$
    -- The first argument of the trigger.
    select split_part(encode(t.tgargs, 'escape'), '\000', 1)
    from pg_trigger t
    where t.tgname = 'follow_insert' and t.tgfoid = 'feed.record_rows'::regproc and not t.tgisinternal
  $$;
comment on function feed.followed() is 'The tables and views that feed.follow has added to the feed.';
grant execute on function feed.followed() to graph_app;
