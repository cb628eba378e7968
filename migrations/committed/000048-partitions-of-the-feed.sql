--! Previous: sha1:f684e2d5768b1120b767960392005543be147679
--! Hash: sha1:1e48ac8598a3d86b3894ca809b87a6df04eab018
--! Message: partitions of the feed

-- The change feed in days. Only the owner has a right over a partition. All other roles read and write the whole table, and its policies
-- bind them. The server makes the coming days and drops what is older than graph.retention.
--
-- The schema audit comes before, since it guards partitions and accepts that they have no history.

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
