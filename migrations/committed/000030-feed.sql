--! Previous: sha1:f9f1ec63c82eb232620326bb0ee2f625a9f161e0
--! Hash: sha1:29976f54a2e5ca34452f1295855c465016133d8c
--! Message: feed

-- The change feed: what was created, updated and deleted. A reader who goes on from where it stopped misses nothing.
--
-- A number from a sequence orders changes by when they were written. Transactions commit in another order, so that a reader would skip what
-- commits late. Here the order is (horizon, id). The horizon is the id of the transaction, or the greatest horizon that was committed before
-- the change was written, if that is greater. So of two changes of a row the later one comes later, also when its transaction began earlier.
--
-- A change is shown when all transactions up to its horizon have ended (pg_snapshot_xmin): then nothing can be added before it any more.
-- A horizon is always the id of a transaction that was committed, since PostgreSQL may assign the ids of others again after a crash.
--
-- An application follows its own organization. The feed is only added to. Its partitions are made after the schema audit, which guards them.

create schema feed;
comment on schema feed is 'The change feed: `feed.follow` adds a table to it.';
grant usage on schema feed to graph_app, graph_admin, graph_helper, graph_purger, graph_oauth, graph_worker;

create function feed.retention() returns interval
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$ select interval '30 days' $$;
comment on function feed.retention() is 'How long changes can be followed. A migration that replaces it changes that.';

create table feed.changes (
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
  related jsonb,
  -- In the order of pages. The time is a part of it because a key of a partitioned table must name the partition.
  constraint changes_pkey primary key (organization_id, horizon, id, at)
) partition by range (at);
-- Absent on purpose: foreign keys, since a change outlives its row; and values: what is told of a row that was deleted is its id and type, and which rows it referred to.
-- And a check of the operation: the triggers write these three words alone, and each insert would parse the constraint anew.

comment on table feed.changes is 'The change feed, in a partition for each day. Kept for feed.retention.';
comment on column feed.changes.id is 'Ascending in the order of writing.';
comment on column feed.changes.origin is 'The cluster and the table that it was written in: after pg_restore the horizons of what was restored mean nothing.';
comment on column feed.changes.horizon is 'The id of its transaction, or the greatest horizon of what was committed before in the organization, if that is greater.';
comment on column feed.changes.relation is 'The table or view that the row is in the graph by.';
comment on column feed.changes.type is 'Of a table whose rows have several types, the type of the row.';
comment on column feed.changes.key is 'The primary key without the organization, each value as JSON has it, without quotes.';
comment on column feed.changes.columns is 'Of an update the columns that it changed.';
comment on column feed.changes.related is 'The columns by which the row refers to others, as they were then, each value as in the key; null without one.';
comment on column feed.changes.operation is 'CREATE, UPDATE or DELETE.';

alter table feed.changes enable row level security, force row level security;
create policy select_graph_app on feed.changes for select to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy select_graph_app on feed.changes is 'An application follows its own organization.';
create policy select_graph_admin on feed.changes for select to graph_admin using (true);
comment on policy select_graph_admin on feed.changes is 'Administration reads the feed, and cannot rewrite it.';
create policy insert_graph_helper on feed.changes for insert to graph_helper with check (true);
comment on policy insert_graph_helper on feed.changes is 'The triggers of followed tables add to the feed.';
create policy select_graph_helper on feed.changes for select to graph_helper using (true);
comment on policy select_graph_helper on feed.changes is 'What is added comes after what is there, and the service learns who has new changes.';
create policy select_graph_worker on feed.changes for select to graph_worker using (true);
comment on policy select_graph_worker on feed.changes is 'The worker looks for what is new in every organization.';
grant select on feed.changes to graph_app, graph_admin, graph_worker;
grant select (organization_id, origin, horizon, id, at, relation) on feed.changes to graph_helper;
grant insert (origin, horizon, organization_id, relation, type, key, operation, columns, related) on feed.changes to graph_helper;
-- Absent on purpose: any right of a person or of a basic token; any right to change or delete. What is old goes with its partition.

-- A constant of each plan. For a session it is: a cluster gets its identifier from initdb, and a table that was restored has another oid.
create function feed.origin() returns bigint
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$ select hashint8extended(system_identifier, 'feed.changes'::regclass::oid::bigint) from pg_control_system() $$;
comment on function feed.origin() is 'Tells this cluster and this table from those that they were restored from. Does not change while a session lasts.';

-- Reading.

create function feed.oldest() returns timestamptz
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$ select date_trunc('day', statement_timestamp() - feed.retention(), 'UTC') $$;
comment on function feed.oldest() is 'The time of the oldest change that can be followed: days are dropped as a whole.';

create function feed.position() returns table (origin bigint, horizon xid8, at timestamptz, oldest timestamptz)
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$
    -- The timeline changes when a backup is brought up to a time, which undoes what readers may have seen.
    -- Its file of the WAL has it at once, and pg_control_checkpoint() up to a minute after a promotion.
    select
      hashint8extended(
        feed.origin(),
        case when pg_is_in_recovery() then (select timeline_id from pg_control_checkpoint())
          else ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int end::bigint),
      pg_snapshot_xmin(pg_current_snapshot()), statement_timestamp(), greatest(feed.oldest(), app_hidden.arrived_at())
  $$;
comment on function feed.position() is 'The end of the feed: what is below this horizon is certain. And the time of the oldest cursor that is good: none of before the organization came here.';

-- With a generic plan: planning the scans of all partitions anew took a third of a page of 1,000. Its estimate knows no limit, so that PostgreSQL
-- would compile it.
create function feed.changes_after(after_horizon xid8, after_id bigint, max_rows int)
  returns table (
    horizon xid8, id bigint, at timestamptz, relation text, type text, key text[], operation text, columns text[], related jsonb)
  -- From one index of each partition, in the order of pages: a page costs by its size, and not by what is behind it.
  language sql stable set search_path = pg_catalog, pg_temp set enable_sort = off set plan_cache_mode = force_generic_plan set jit = off
  as $$
    select c.horizon, c.id, c.at, c.relation, c.type, c.key, c.operation, c.columns, c.related
    from feed.changes c
    where c.organization_id = (select app_hidden.current_organization_id())
      and (c.horizon, c.id) > (changes_after.after_horizon, changes_after.after_id)
      and c.horizon < pg_snapshot_xmin(pg_current_snapshot())
      -- What is older may be gone at any time. A later time than this would not do: a transaction may write long before it ends.
      and c.at >= feed.oldest()
      and c.origin = (select feed.origin())
      -- A table that was dropped is no longer in the graph.
      and to_regclass(c.relation) is not null
    order by c.horizon, c.id
    limit changes_after.max_rows
  $$;
comment on function feed.changes_after(xid8, bigint, int) is 'The next changes of the organization after a position, as far as they are certain.';

create function feed.last_change() returns table (horizon xid8, id bigint)
  language sql stable set search_path = pg_catalog, pg_temp set enable_sort = off
  as $$
    select c.horizon, c.id
    from feed.changes c
    where c.organization_id = (select app_hidden.current_organization_id())
      and c.horizon < pg_snapshot_xmin(pg_current_snapshot())
      and c.at >= feed.oldest()
      and c.origin = (select feed.origin())
    order by c.horizon desc, c.id desc
    limit 1
  $$;
comment on function feed.last_change() is 'The position of the last change of the organization that is certain; no row without one.';

grant execute on function feed.retention(), feed.oldest(), feed.origin(), feed.position(), feed.changes_after(xid8, bigint, int), feed.last_change()
  to graph_app, graph_admin, graph_worker;
grant execute on function feed.retention(), feed.oldest(), feed.origin() to graph_helper;
grant execute on function feed.retention() to graph_purger;

create function feed.changed_since(organizations uuid[], horizons xid8[], ids bigint[]) returns uuid[]
  -- The first change of each from the index, as a page: a semijoin read the whole feed.
  language sql stable security definer set search_path = pg_catalog, pg_temp
  set enable_sort = off set plan_cache_mode = force_generic_plan set jit = off
  set row_security = on
  as $$
    -- Runs as graph_helper because the service asks about all organizations with one statement, and reads the changes of each as its application.
    select array(
      select asked.organization_id
      from unnest(organizations, horizons, ids) as asked (organization_id, horizon, id)
      cross join lateral (
        select from feed.changes c
        where c.organization_id = asked.organization_id and (c.horizon, c.id) > (asked.horizon, asked.id) and c.origin = (select feed.origin())
          and c.horizon < pg_snapshot_xmin(pg_current_snapshot())
          -- As a reader is shown them: else a stream would read again and again what it is not shown. Partitions of before are left out.
          and c.at >= feed.oldest()
          and to_regclass(c.relation) is not null
        order by c.horizon, c.id
        limit 1) as next)
  $$;
comment on function feed.changed_since(uuid[], xid8[], bigint[]) is 'Which organizations have changes that are certain after a position, each its own.';
grant create on schema feed to graph_helper;
alter function feed.changed_since(uuid[], xid8[], bigint[]) owner to graph_helper;
revoke create on schema feed from graph_helper;
grant execute on function feed.changed_since(uuid[], xid8[], bigint[]) to graph_oauth;
