--! Previous: sha1:006ccf2dffa0c9770e61b6c793b00f208e5a056e
--! Hash: sha1:0df1092e7e95c854c768e6ed552752ba7df9e371
--! Message: change feed

-- Enter migration here: docs/changing-the-schema.md. The present text of a policy is in test/database/policies.txt,
-- that of a function in the last file of migrations/committed that makes it (psql: \sf app_public.user_create).

-- The change feed: what was created, updated and deleted, in an order in which a reader who goes on from where it stopped misses nothing.
--
-- A number from a sequence orders changes by when they were written, and transactions commit in another order, so that a reader would skip
-- what commits late. Here the order is (horizon, id). The horizon is the id of the transaction, or the greatest horizon of what was
-- committed before the change was written, if that is greater: so of two changes of a row the later one comes later, also when its
-- transaction began earlier. A change is shown when all transactions up to its horizon have ended (pg_snapshot_xmin): then nothing can be
-- added before it any more. A horizon is always the id of a transaction that was committed, and not of any that had ended: PostgreSQL may
-- assign the ids of others again after a crash.

do $$
declare
  followed record;
begin
  for followed in select tgrelid::regclass as relation, tgname from pg_trigger where tgname like 'follow\_%' and not tgisinternal loop
    execute format('drop trigger %I on %s', followed.tgname, followed.relation);
  end loop;
end
$$;
drop function if exists oauth.rotate_feed();
drop function if exists graph.follow(regclass, regclass, name[]);
drop function if exists graph.record_update();
drop function if exists graph.next_horizon(uuid);
drop function if exists graph.record_rows();
drop function if exists graph.key_of(jsonb, text[]);
drop function if exists graph.changed_since(uuid[], xid8[], bigint[]);
drop function if exists graph.last_change();
drop function if exists graph.changes_after(xid8, bigint, int);
drop function if exists graph.position();
drop function if exists graph.oldest();
drop function if exists graph.create_partition(date);
drop function if exists graph.origin();
drop table if exists graph.changes;
drop function if exists graph.retention();
drop schema if exists graph;

create schema graph;
comment on schema graph is 'The change feed: `graph.follow` adds a table to it.';
grant usage on schema graph to graph_app, graph_admin, graph_helper, graph_oauth;

create function graph.retention() returns interval
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$ select interval '30 days' $$;
comment on function graph.retention() is 'How long changes can be followed. A migration that replaces it changes that.';

create table graph.changes (
  id bigint not null generated always as identity,
  origin bigint not null,
  horizon xid8 not null,
  at timestamptz not null default clock_timestamp(),
  organization_id uuid not null,
  relation text not null,
  type text,
  key text[] not null,
  operation text not null,
  columns text[] not null,
  -- In the order of pages. The time is a part of it because a key of a partitioned table must name the partition.
  constraint changes_pkey primary key (organization_id, horizon, id, at),
  constraint changes_operation_known check (operation in ('CREATE', 'UPDATE', 'DELETE'))
) partition by range (at);
-- Absent on purpose: foreign keys, since a change outlives its row; and values: what is told of a row that was deleted is its id and type.
comment on table graph.changes is 'The change feed, in a partition for each day. Kept for graph.retention.';
comment on column graph.changes.id is 'Ascending in the order of writing.';
comment on column graph.changes.origin is 'The cluster and the table that `horizon` belongs to: after pg_restore the transaction ids of what was restored mean nothing.';
comment on column graph.changes.horizon is 'The id of its transaction, or the greatest horizon of what was committed before in the organization, if that is greater.';
comment on column graph.changes.relation is 'The table or view that the row is in the graph by.';
comment on column graph.changes.type is 'Of a table whose rows have several types, the type of the row.';
comment on column graph.changes.key is 'The primary key without the organization, each value as JSON has it, without quotes.';
comment on column graph.changes.columns is 'Of an update the columns that it changed.';

alter table graph.changes enable row level security, force row level security;
create policy select_graph_app on graph.changes for select to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy select_graph_app on graph.changes is 'An application follows its own organization.';
create policy select_graph_admin on graph.changes for select to graph_admin using (true);
comment on policy select_graph_admin on graph.changes is 'Administration reads the feed, and cannot rewrite it.';
create policy insert_graph_helper on graph.changes for insert to graph_helper with check (true);
comment on policy insert_graph_helper on graph.changes is 'The triggers of followed tables add to the feed.';
create policy select_graph_helper on graph.changes for select to graph_helper using (true);
comment on policy select_graph_helper on graph.changes is 'What is added comes after what is there, and the service learns who has new changes.';
grant select on graph.changes to graph_app, graph_admin;
grant select (organization_id, horizon, id, at, origin) on graph.changes to graph_helper;
grant insert (origin, horizon, organization_id, relation, type, key, operation, columns) on graph.changes to graph_helper;
-- Absent on purpose: any right of a person or of a basic token; any right to change or delete. What is old goes with its partition.

create function graph.origin() returns bigint
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$ select hashint8extended(system_identifier, 'graph.changes'::regclass::oid::bigint) from pg_control_system() $$;
comment on function graph.origin() is 'Tells this cluster and this table from those that they were restored from.';

-- Partitions: only the owner has a right over one; all other roles read and write the whole table, and are bound by its policies.

create or replace function audit.guard_partition(partition regclass) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  begin
    execute format('alter table %s enable row level security, force row level security', partition);
    execute format('drop policy if exists select_graph_admin on %s', partition);
    execute format('create policy select_graph_admin on %s for select to graph_admin using (true)', partition);
    execute format('comment on policy select_graph_admin on %s is %L', partition, 'A backup by the owner reads each partition; all others read the whole table.');
  end
  $$;

create function graph.create_partition(day date) returns boolean
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    name text = 'changes_' || to_char(day, 'YYYY_MM_DD');
    since timestamptz = day::timestamp at time zone 'UTC';
    until timestamptz = (day + 1)::timestamp at time zone 'UTC';
  begin
    -- What the default partition has of a day stays there.
    if to_regclass('graph.' || name) is not null or exists (select from graph.changes_default where at >= since and at < until) then
      return false;
    end if;
    execute format(
      'create table graph.%I (like graph.changes including constraints, constraint %I primary key (organization_id, horizon, id, at))',
      name, name || '_pkey');
    perform audit.guard_partition(format('graph.%I', name));
    insert into audit.accepted (kind, object, who, reason) values ('history', 'graph.' || name, 'everybody', 'It is a record itself.')
    on conflict on constraint accepted_pkey do nothing;
    -- Unlike `create table … partition of`, this lets writers of other partitions go on.
    execute format('alter table graph.changes attach partition graph.%I for values from (%L) to (%L)', name, since, until);
    return true;
  end
  $$;
comment on function graph.create_partition(date) is 'Makes the partition of a day, in UTC, and says whether it was missing. For the owner.';

-- A write never fails for want of a day.
create table graph.changes_default partition of graph.changes default;
select audit.guard_partition('graph.changes_default');
select graph.create_partition((statement_timestamp() at time zone 'UTC')::date + n) from generate_series(0, 7) as n;

create function oauth.rotate_feed() returns table (days int, new_days int)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '100ms'
  as $$
  declare
    today date = statement_timestamp() at time zone 'UTC';
    expired regclass;
  begin
    -- Runs as the owner of the feed, since only that may make or drop a partition.
    days = 0;
    new_days = 0;
    if not pg_try_advisory_xact_lock(hashtextextended('oauth.rotate_feed', 0)) then
      return;
    end if;
    new_days = (select count(*) filter (where graph.create_partition(today + n)) from generate_series(0, 7) as n);
    if new_days = 0 then
      select c.oid::regclass into expired
      from pg_inherits i
      join pg_class c on c.oid = i.inhrelid
      cross join lateral (select (regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''([^'']+)''\)'))[1]::timestamptz as until) as bound
      where i.inhparent = 'graph.changes'::regclass and until <= statement_timestamp() - graph.retention()
      order by until
      limit 1;
      if expired is not null then
        delete from audit.accepted where kind = 'history' and object = expired::text;
        execute format('drop table %s', expired);
        days = 1;
      end if;
    end if;
    return next;
  end
  $$;
comment on function oauth.rotate_feed() is
  'Makes the partitions of the coming days, or drops the oldest one, if all of it is older than graph.retention; and says how many. '
  'No row when another session is at it; lock_not_available when the feed is in use.';
grant execute on function oauth.rotate_feed() to graph_oauth, graph_admin;

-- Reading.

create function graph.oldest() returns timestamptz
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$ select date_trunc('day', statement_timestamp() - graph.retention(), 'UTC') $$;
comment on function graph.oldest() is 'The time of the oldest change that can be followed: days are dropped as a whole.';

create function graph.position() returns table (origin bigint, horizon xid8, at timestamptz, oldest timestamptz)
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$
    -- The timeline changes when a backup is brought up to a time, which undoes what readers may have seen.
    select
      hashint8extended(graph.origin(), timeline_id::bigint), pg_snapshot_xmin(pg_current_snapshot()), statement_timestamp(), graph.oldest()
    from pg_control_checkpoint()
  $$;
comment on function graph.position() is 'The end of the feed: what is below this horizon is certain. And the time of the oldest cursor that is good.';

create function graph.changes_after(after_horizon xid8, after_id bigint, max_rows int)
  returns table (horizon xid8, id bigint, at timestamptz, relation text, type text, key text[], operation text, columns text[])
  -- From one index of each partition, in the order of pages: a page costs by its size, and not by what is behind it.
  language sql stable set search_path = pg_catalog, pg_temp set enable_sort = off
  as $$
    select c.horizon, c.id, c.at, c.relation, c.type, c.key, c.operation, c.columns
    from graph.changes c
    where c.organization_id = (select app_hidden.current_organization_id())
      and (c.horizon, c.id) > (changes_after.after_horizon, changes_after.after_id)
      and c.horizon < pg_snapshot_xmin(pg_current_snapshot())
      -- What is older may be gone at any time. A later time than this would not do: a transaction may write long before it ends.
      and c.at >= graph.oldest()
      and c.origin = (select graph.origin())
      -- A table that was dropped is no longer in the graph.
      and to_regclass(c.relation) is not null
    order by c.horizon, c.id
    limit changes_after.max_rows
  $$;
comment on function graph.changes_after(xid8, bigint, int) is 'The next changes of the organization after a position, as far as they are certain.';

create function graph.last_change() returns table (horizon xid8, id bigint)
  language sql stable set search_path = pg_catalog, pg_temp set enable_sort = off
  as $$
    select c.horizon, c.id
    from graph.changes c
    where c.organization_id = (select app_hidden.current_organization_id())
      and c.horizon < pg_snapshot_xmin(pg_current_snapshot())
      and c.at >= graph.oldest()
      and c.origin = (select graph.origin())
    order by c.horizon desc, c.id desc
    limit 1
  $$;
comment on function graph.last_change() is 'The position of the last change of the organization that is certain; no row without one.';
grant execute on function graph.retention(), graph.oldest(), graph.origin(), graph.position(), graph.changes_after(xid8, bigint, int), graph.last_change()
  to graph_app, graph_admin;

create function graph.changed_since(organizations uuid[], horizons xid8[], ids bigint[]) returns uuid[]
  language sql stable security definer set search_path = pg_catalog, pg_temp
  as $$
    -- Runs as graph_helper because the service asks about all organizations with one statement, and reads the changes of each as its application.
    select array(
      select asked.organization_id
      from unnest(organizations, horizons, ids) as asked (organization_id, horizon, id)
      where exists (
        select from graph.changes c
        where c.organization_id = asked.organization_id and (c.horizon, c.id) > (asked.horizon, asked.id)
          and c.horizon < pg_snapshot_xmin(pg_current_snapshot()) and c.origin = (select graph.origin())))
  $$;
comment on function graph.changed_since(uuid[], xid8[], bigint[]) is 'Which organizations have changes that are certain after a position, each its own.';
grant execute on function graph.changed_since(uuid[], xid8[], bigint[]) to graph_oauth;
grant execute on function graph.origin() to graph_helper;

-- Writing.

create function graph.key_of(value jsonb, names text[]) returns text[]
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$ select array_agg(value ->> name order by place) from unnest(names) with ordinality as n (name, place) $$;
comment on function graph.key_of(jsonb, text[]) is 'The key of a row.';

create function graph.next_horizon(organization_id uuid) returns xid8
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
        from graph.changes c
        where c.organization_id = next_horizon.organization_id and c.horizon > own and c.origin = (select graph.origin())
          and c.at >= transaction_timestamp() - interval '1 minute'
      ),
      own);
  end
  $$;
comment on function graph.next_horizon(uuid) is 'The horizon of a change that is written now: no less than that of any change that is committed.';

-- Inserts and deletes come by the thousand: one statement records all of them.
create function graph.record_rows() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
  declare
    followed text = tg_argv[0];
    names text[] = tg_argv[1];
    type_column text = tg_argv[2];
    origin bigint = graph.origin();
  begin
    -- Runs as graph_helper because nobody may write the feed by hand. `offset 0` makes each value once, not for each mention.
    if tg_op = 'INSERT' then
      insert into graph.changes (origin, horizon, organization_id, relation, type, key, operation, columns)
      select origin, graph.next_horizon(organization_id), organization_id, followed, value ->> type_column, graph.key_of(value, names), 'CREATE', '{}'
      from (select r.organization_id, to_jsonb(r) as value from inserted r offset 0) as rows;
    else
      insert into graph.changes (origin, horizon, organization_id, relation, type, key, operation, columns)
      select origin, graph.next_horizon(organization_id), organization_id, followed, value ->> type_column, graph.key_of(value, names), 'DELETE', '{}'
      from (select r.organization_id, to_jsonb(r) as value from deleted r offset 0) as rows;
    end if;
    return null;
  end
  $$;
comment on function graph.record_rows() is 'Adds the rows that a statement has inserted or deleted to the feed.';

create function graph.record_update() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
  declare
    names text[] = tg_argv[1];
    type_column text = tg_argv[2];
    ignored text[] = tg_argv[3];
    old_value jsonb = to_jsonb(old);
    new_value jsonb = to_jsonb(new);
    changed text[] = array(
      select name from jsonb_object_keys(new_value) as name
      where old_value -> name is distinct from new_value -> name and name <> all (ignored)
      order by name);
    is_same_row boolean = graph.key_of(old_value, names) = graph.key_of(new_value, names)
      and old_value ->> 'organization_id' = new_value ->> 'organization_id'
      and old_value ->> type_column is not distinct from new_value ->> type_column;
  begin
    -- Runs as graph_helper because nobody may write the feed by hand. A row with another key is another object.
    insert into graph.changes (origin, horizon, organization_id, relation, type, key, operation, columns)
    select
      graph.origin(), graph.next_horizon((value ->> 'organization_id')::uuid), (value ->> 'organization_id')::uuid,
      tg_argv[0], value ->> type_column, graph.key_of(value, names), operation, case operation when 'UPDATE' then changed else '{}' end
    from (
      values (1, 'UPDATE', new_value, is_same_row), (2, 'DELETE', old_value, not is_same_row), (3, 'CREATE', new_value, not is_same_row)
    ) as made (place, operation, value, is_made)
    where is_made
    order by place;
    return null;
  end
  $$;
comment on function graph.record_update() is 'Adds a row that was changed to the feed.';

create function graph.follow(followed regclass, shown regclass default null, ignored name[] default '{}') returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    names name[] = array(
      select a.attname
      from pg_index i
      cross join lateral unnest(i.indkey::int2[]) with ordinality as k (attnum, place)
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
      where i.indrelid = followed and i.indisprimary and a.attname <> 'organization_id'
      order by k.place);
    all_ignored name[] = ignored || '{updated_at}' || array(select attname from pg_attribute where attrelid = followed and attgenerated <> '');
    arguments text;
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
    if names = '{}' then
      raise undefined_object using message = format('%s has no primary key', followed), hint = 'A change names its row by that.';
    end if;
    select format('%L, %L, %L, %L', format('%I.%I', n.nspname, c.relname), names,
        coalesce((regexp_match(obj_description(c.oid, 'pg_class'), '^@interface [^\n]*\mtype:(\w+)', 'n'))[1], ''), all_ignored)
      into arguments
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where c.oid = coalesce(shown, followed);
    execute format(
      'create or replace trigger follow_insert after insert on %s referencing new table as inserted
         for each statement execute function graph.record_rows(%s)', followed, arguments);
    execute format(
      'create or replace trigger follow_update after update on %s
         for each row when (old.* is distinct from new.* and to_jsonb(old) - %2$L::text[] is distinct from to_jsonb(new) - %2$L::text[])
         execute function graph.record_update(%3$s)', followed, all_ignored, arguments);
    execute format(
      'create or replace trigger follow_delete after delete on %s referencing old table as deleted
         for each statement execute function graph.record_rows(%s)', followed, arguments);
  end
  $$;
comment on function graph.follow(regclass, regclass, name[]) is
  'Adds what changes in a table to the feed. `shown` is the view by which its rows are in the graph, if it is not the table itself; a change of '
  '`ignored` columns alone is none, nor is one of `updated_at` or of generated columns.';

grant create on schema graph to graph_helper;
alter function graph.changed_since(uuid[], xid8[], bigint[]) owner to graph_helper;
alter function graph.record_rows() owner to graph_helper;
alter function graph.record_update() owner to graph_helper;
revoke create on schema graph from graph_helper;
grant execute on function graph.key_of(jsonb, text[]), graph.next_horizon(uuid) to graph_helper;

select graph.follow('app_public.users');
select graph.follow('app_public.units', ignored => '{ancestor_ids}');
select graph.follow('app_public.cards');
select graph.follow('app_public.card_assignments');
select graph.follow('app_hidden.unit_access', shown => 'app_public.access_grants');

-- A column that is no field of its own may be a part of one that another name tells of (@partOf).

create or replace view audit.smart_tags with (security_invoker = true) as
  select tag, kinds
  from (
    values
      -- This service's own, in plugins.
      ('argument', '{constraint,foreign key,index,column}'::text[]),
      ('connection', '{table}'),
      ('filter', '{column}'),
      ('mutation', '{function}'),
      ('oneOf', '{type}'),
      ('param', '{function}'),
      ('partOf', '{column}'),
      ('payloadField', '{function}'),
      ('value', '{type}'),
      -- PostGraphile's, as far as this graph is made by them: it has no generated mutation and no root field of a table.
      ('arg0modifier', '{function}'),
      ('arg0variant', '{function}'),
      ('backwardBehavior', '{foreign key}'),
      ('backwardDescription', '{foreign key}'),
      ('behavior', '{table,column,constraint,foreign key,function,type}'),
      ('deprecated', '{table,column,foreign key,function}'),
      ('enum', '{table,constraint,type}'),
      ('fieldName', '{foreign key,function}'),
      ('foreignConnectionFieldName', '{foreign key}'),
      ('foreignFieldName', '{foreign key}'),
      ('foreignKey', '{table}'),
      ('foreignSimpleFieldName', '{foreign key}'),
      ('foreignSingleFieldName', '{foreign key}'),
      ('forwardBehavior', '{foreign key}'),
      ('forwardDescription', '{foreign key}'),
      ('hasDefault', '{column}'),
      ('implements', '{table}'),
      ('interface', '{table}'),
      ('isIndexed', '{column,foreign key}'),
      ('listSuffix', '{table,foreign key,function}'),
      ('name', '{table,column,function,type}'),
      ('notNull', '{column,foreign key,function,type}'),
      ('partitionExpose', '{table}'),
      ('primaryKey', '{table}'),
      ('ref', '{table}'),
      ('refVia', '{table}'),
      ('returnType', '{function}'),
      ('type', '{table,column}'),
      ('unionMember', '{table}'),
      ('unique', '{table}')
  ) as tags (tag, kinds);
comment on view audit.smart_tags is 'The smart tags that the graph knows, and on what: a tag that is not here does nothing. A migration that adds one replaces this view.';

comment on column app_public.users.external_authentication_token_ciphertext is E'@behavior -*\n@partOf externalAuthenticationToken\nExternal authentication token, AES-256-GCM under SECRET_KEY; only the service can read it.';
comment on column app_public.users.external_authentication_token_hash is E'@behavior -*\n@partOf externalAuthenticationToken\nKeyed hash of the external authentication token, to look it up.';

insert into audit.accepted (kind, object, who, reason) values
  ('definer', 'graph.record_rows()', 'nobody', 'The triggers of followed tables call it, and nobody may write the feed by hand.'),
  ('definer', 'graph.record_update()', 'nobody', 'The triggers of followed tables call it, and nobody may write the feed by hand.'),
  ('history', 'graph.changes', 'everybody', 'It is a record itself.'),
  ('history', 'graph.changes_default', 'everybody', 'It is a record itself.'),
  ('definer', 'graph.changed_since(uuid[], xid8[], bigint[])', 'graph_oauth', 'Says of organizations that the service serves whether they have changes, and nothing of these.'),
  ('definer', 'oauth.rotate_feed()', 'graph_admin, graph_oauth', 'Makes and drops partitions of the feed, which only its owner may.')
on conflict on constraint accepted_pkey do update set reason = excluded.reason;
