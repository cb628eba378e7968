--! Previous: sha1:65e6ef88479144b91ecb0d53ec0ae3d1dc066209
--! Hash: sha1:b65762b9e341627859d88228bbdfeb63b3940c06
--! Message: the feed at half its cost

-- Enter migration here: docs/changing-the-schema.md. The present text of a policy is in test/database/policies.txt,
-- that of a function in the last file of migrations/committed that makes it (psql: \sf app_public.user_create).

-- The change feed costs a write half of what it did, and what is new in it is read without the rest.
-- A change had its origin read from the disk, and its key's columns parsed.

-- A constant of each plan. For a session it is: a cluster gets its identifier from initdb, and a table that was restored has another oid.
create or replace function graph.origin() returns bigint
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$ select hashint8extended(system_identifier, 'graph.changes'::regclass::oid::bigint) from pg_control_system() $$;
comment on function graph.origin() is 'Tells this cluster and this table from those that they were restored from. Does not change while a session lasts.';

-- The triggers write these three words alone. Each insert parsed the constraint anew.
alter table graph.changes drop constraint if exists changes_operation_known;
comment on column graph.changes.operation is 'CREATE, UPDATE or DELETE.';

-- Arguments of the trigger: the relation, the operation, the column of the type or '', and the columns of the key.
create or replace function graph.record_rows() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
  begin
    -- Runs as graph_helper because no client role has a right to write the feed. Set-based: one insert records all rows of a bulk statement.
    if tg_nargs = 4 and tg_argv[2] = '' then
      insert into graph.changes (origin, horizon, organization_id, relation, key, operation, columns)
      select graph.origin(), graph.next_horizon(r.organization_id), r.organization_id, tg_argv[0], array[to_jsonb(r) ->> tg_argv[3]], tg_argv[1], '{}'
      from affected r;
    else
      -- `offset 0` makes each value once, not for each mention.
      insert into graph.changes (origin, horizon, organization_id, relation, type, key, operation, columns)
      select graph.origin(), graph.next_horizon(organization_id), organization_id, tg_argv[0], value ->> tg_argv[2],
        array(select value ->> name from unnest(tg_argv[3:]) as name), tg_argv[1], '{}'
      from (select r.organization_id, to_jsonb(r) as value from affected r offset 0) as rows;
    end if;
    return null;
  end
  $$;

-- Arguments of the trigger: the relation, the column of the type or '', the ignored columns, and the columns of the key.
create or replace function graph.record_update() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
  declare
    type_column text = tg_argv[1];
    ignored text[] = tg_argv[2];
    names text[] = tg_argv[3:];
    old_value jsonb = to_jsonb(old);
    new_value jsonb = to_jsonb(new);
    changed text[] = array(select key from jsonb_each(new_value) where value is distinct from old_value -> key order by key);
  begin
    if changed <@ ignored then
      return null;
    end if;
    -- Runs as graph_helper because no client role has a right to write the feed.
    -- A change of the key, the type or the organization is the deletion of one object and the creation of another.
    if not changed && (names || array['organization_id', type_column]) then
      insert into graph.changes (origin, horizon, organization_id, relation, type, key, operation, columns)
      values (
        graph.origin(), graph.next_horizon(new.organization_id), new.organization_id, tg_argv[0], new_value ->> type_column,
        array(select new_value ->> name from unnest(names) as name), 'UPDATE', array(select name from unnest(changed) as name where name <> all (ignored)));
    else
      insert into graph.changes (origin, horizon, organization_id, relation, type, key, operation, columns)
      select
        graph.origin(), graph.next_horizon(organization_id), organization_id, tg_argv[0], value ->> type_column,
        array(select value ->> name from unnest(names) as name), operation, '{}'
      from (values (1, 'DELETE', old.organization_id, old_value), (2, 'CREATE', new.organization_id, new_value)) as made (place, operation, organization_id, value)
      order by place;
    end if;
    return null;
  end
  $$;

create or replace function graph.follow(followed regclass, shown regclass default null, ignored name[] default '{}') returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    key text = (
      select string_agg(quote_literal(a.attname), ', ' order by k.place)
      from pg_index i
      cross join lateral unnest(i.indkey::int2[]) with ordinality as k (attnum, place)
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
      where i.indrelid = followed and i.indisprimary and a.attname <> 'organization_id');
    all_ignored name[] = ignored || '{updated_at}' || array(select attname from pg_attribute where attrelid = followed and attgenerated <> '');
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
         for each statement execute function graph.record_rows(%L, %L, %L, %s)', followed, relation, 'CREATE', type_column, key);
    execute format(
      'create or replace trigger follow_update after update on %s
         for each row when (old.* is distinct from new.*) execute function graph.record_update(%L, %L, %L, %s)',
      followed, relation, type_column, all_ignored, key);
    execute format(
      'create or replace trigger follow_delete after delete on %s referencing old table as affected
         for each statement execute function graph.record_rows(%L, %L, %L, %s)', followed, relation, 'DELETE', type_column, key);
  end
  $$;

-- Each table that is followed, this service's own and others, with the view and the ignored columns that it had.
select graph.follow(t.tgrelid, shown => arguments[1]::regclass, ignored => array(
  select attname from pg_attribute
  where attrelid = t.tgrelid and attname = any (arguments[4]::name[]) and attname <> 'updated_at' and attgenerated = ''))
from pg_trigger t
cross join lateral (
  select array_agg(convert_from(decode(argument, 'escape'), 'UTF8') order by place) as arguments
  from string_to_table(encode(t.tgargs, 'escape'), '\000') with ordinality as a (argument, place)) as made
where t.tgname = 'follow_insert' and t.tgfoid = 'graph.record_rows'::regproc
  -- Not yet of the new form.
  and arguments[2] like '{%';

-- Reading: with a generic plan, since planning the scans of all partitions anew took a third of a page of 1,000.
-- Its estimate knows no limit, so that PostgreSQL would compile it.
alter function graph.changes_after(xid8, bigint, int) set plan_cache_mode = force_generic_plan;
alter function graph.changes_after(xid8, bigint, int) set jit = off;

create or replace function graph.changed_since(organizations uuid[], horizons xid8[], ids bigint[]) returns uuid[]
  -- The first change of each from the index, as a page: a semijoin read the whole feed.
  language sql stable security definer set search_path = pg_catalog, pg_temp set enable_sort = off set plan_cache_mode = force_generic_plan set jit = off
  as $$
    -- Runs as graph_helper because the service asks about all organizations with one statement, and reads the changes of each as its application.
    select array(
      select asked.organization_id
      from unnest(organizations, horizons, ids) as asked (organization_id, horizon, id)
      cross join lateral (
        select from graph.changes c
        where c.organization_id = asked.organization_id and (c.horizon, c.id) > (asked.horizon, asked.id) and c.origin = (select graph.origin())
          and c.horizon < pg_snapshot_xmin(pg_current_snapshot())
        order by c.horizon, c.id
        limit 1) as next)
  $$;
