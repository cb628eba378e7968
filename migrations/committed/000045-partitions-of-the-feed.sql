--! Previous: sha1:0e3e96f44bfc0b2b7487fe9db3fef51569a1f5f8
--! Hash: sha1:bd22d1e4a50b17ea7d562c55aff7ad25097d9051
--! Message: partitions of the feed

-- The change feed in days. Only the owner has a right over a partition. All other roles read and write the whole table, and its policies
-- bind them. The server makes the coming days and drops what is older than feed.retention.
--
-- The schema audit comes before, since it guards partitions.

-- As audit.create_partition does it: what the default partition has of the day is moved, and writers wait meanwhile.
create function feed.create_partition(day date) returns boolean
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex' set extra_float_digits = 1
  as $$
  declare
    name text = 'changes_' || to_char(day, 'YYYY_MM_DD');
    since timestamptz = day::timestamp at time zone 'UTC';
    until timestamptz = (day + 1)::timestamp at time zone 'UTC';
  begin
    if to_regclass('feed.' || name) is not null then
      return false;
    end if;
    if since <= clock_timestamp() or exists (select from feed.changes_default where at >= since and at < until) then
      lock table only feed.changes in share row exclusive mode;
    end if;
    lock table feed.changes_default in access exclusive mode;
    execute format(
      'create table feed.%I (like feed.changes including constraints, constraint %I primary key (organization_id, horizon, id, at))',
      name, name || '_pkey');
    if exists (select from feed.changes_default where at >= since and at < until) then
      -- No policy lets a role delete; the owner switches them off for this statement.
      alter table feed.changes_default no force row level security;
      execute format(
        'with moved as (delete from feed.changes_default where at >= $1 and at < $2 returning *) insert into feed.%I select * from moved', name)
        using since, until;
      alter table feed.changes_default force row level security;
    end if;
    perform audit.guard_partition(format('feed.%I', name));
    -- Unlike `create table … partition of`, this lets writers of other partitions go on.
    execute format('alter table feed.changes attach partition feed.%I for values from (%L) to (%L)', name, since, until);
    return true;
  end
  $$;
comment on function feed.create_partition(date) is 'Makes the partition of a day, in UTC, moves what the default partition has of it, and says whether it was missing. For the owner.';

-- A write never fails for want of a day. What comes here is moved as soon as its day is made.
create table feed.changes_default partition of feed.changes default;
select audit.guard_partition('feed.changes_default');
select feed.create_partition((statement_timestamp() at time zone 'UTC')::date + n) from generate_series(0, 7) as n;

create function feed.rotate_partitions() returns table (days int, new_days int)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '100ms'
  set quote_all_identifiers = off
  as $$
  declare
    today date = statement_timestamp() at time zone 'UTC';
    expired regclass;
    missing date[];
    next date;
  begin
    -- Runs as the owner of the feed, since only that may make or drop a partition.
    days = 0;
    new_days = 0;
    if not pg_try_advisory_xact_lock(hashtextextended('feed.rotate_partitions', 0)) then
      return;
    end if;
    missing = array(
      select wanted.day from (
        select today + n as day from generate_series(0, 7) as n
        union
        select (c.at at time zone 'UTC')::date from feed.changes_default c
      ) as wanted
      order by wanted.day);
    foreach next in array missing loop
      new_days = new_days + feed.create_partition(next)::int;
    end loop;
    if new_days = 0 then
      select p.partition into expired
      from audit.partitions_of('feed.changes') as p
      where p.until <= statement_timestamp() - feed.retention()
      order by p.until
      limit 1;
      if expired is not null then
        execute format('drop table %s', expired);
        days = 1;
      end if;
    end if;
    return next;
  end
  $$;
comment on function feed.rotate_partitions() is
  'Makes the partitions that are missing of the coming days and of what came to the default partition, or drops the oldest one, if all of it is older than feed.retention; and says how many. '
  'No row when another session is at it; lock_not_available when the feed is in use.';
grant execute on function feed.rotate_partitions() to graph_oauth, graph_admin;
