--! Previous: sha1:cab563493f087f7b97f871c57fb3437ab69365e7
--! Hash: sha1:11c0d21c8402484db28c442bd6c8f69892806871
--! Message: audit partitions

-- The history in months. Dropping a partition takes a moment however much is in it; deleting its rows takes as long as writing them did.
-- Only the owner has a right over a partition. All other roles read and write audit.changes, and its policies bind them.
--
-- The server makes the coming months and drops the oldest; `npm run db:migrate` makes months, too.

create function audit.guard_partition(partition regclass) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  begin
    execute format('alter table %s enable row level security, force row level security', partition);
    execute format('drop policy if exists select_graph_admin on %s', partition);
    execute format('create policy select_graph_admin on %s for select to graph_admin using (true)', partition);
    execute format('comment on policy select_graph_admin on %s is %L', partition, 'A backup by the owner reads each partition; all others read the whole table.');
  end
  $$;
comment on function audit.guard_partition(regclass) is 'Lets the owner read a partition of the history by its name, and no other role.';

-- A write never fails for want of a month. What comes here is moved as soon as its month is made.
create table audit.changes_default partition of audit.changes
  (constraint changes_default_pkey primary key (subject_id, organization_id, id)) default;
select audit.guard_partition('audit.changes_default');

create function audit.partitions_of(parent regclass) returns table (partition regclass, since timestamptz, until timestamptz)
  language sql stable set search_path = pg_catalog, pg_temp set standard_conforming_strings = on
  set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex' set extra_float_digits = 1
  as $$
    select c.oid::regclass, (regexp_match(bound, 'FROM \(''([^'']+)''\)'))[1]::timestamptz, (regexp_match(bound, 'TO \(''([^'']+)''\)'))[1]::timestamptz
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    cross join lateral pg_get_expr(c.relpartbound, c.oid) as bound
    where i.inhparent = parent
  $$;
comment on function audit.partitions_of(regclass) is
  'The partitions of a table that is partitioned by time, and the times that each is for. A bound is null without a limit; the default partition has neither.';
grant execute on function audit.partitions_of(regclass) to graph_auditor, graph_admin;

create view audit.partitions with (security_invoker = true) as
  select partition, since, until from audit.partitions_of('audit.changes');
comment on view audit.partitions is 'The partitions of the history and the times that each is for; the default partition has neither bound.';
grant select on audit.partitions to graph_auditor, graph_admin;

-- A writer that found the default partition before a month was attached, and waited for it, would be refused: "new row for relation
-- "changes_default" violates partition constraint". So it waits for the history itself, and finds the month.
create function audit.create_partition(month timestamptz) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex' set extra_float_digits = 1
  as $$
  declare
    until timestamptz = (month at time zone 'UTC' + interval '1 month') at time zone 'UTC';
    name text = 'changes_' || to_char(month at time zone 'UTC', 'YYYY_MM');
  begin
    -- Only a month that is written now has writers to wait for, which is none when months are made ahead.
    if month <= clock_timestamp() or exists (select from audit.changes_default where occurred_at >= month and occurred_at < until) then
      lock table only audit.changes in share row exclusive mode;
    end if;
    -- PostgreSQL attaches no partition while the default one has rows of it. No writer adds any until the transaction ends.
    lock table audit.changes_default in access exclusive mode;
    execute format(
      'create table audit.%I (like audit.changes including constraints, constraint %I primary key (subject_id, organization_id, id))',
      name, name || '_pkey');
    if exists (select from audit.changes_default where occurred_at >= month and occurred_at < until) then
      -- No policy lets a role delete; the owner switches them off for this statement.
      alter table audit.changes_default no force row level security;
      execute format(
        'with moved as (delete from audit.changes_default where occurred_at >= $1 and occurred_at < $2 returning *)
         insert into audit.%I select * from moved', name) using month, until;
      alter table audit.changes_default force row level security;
    end if;
    perform audit.guard_partition(format('audit.%I', name));
    -- Unlike `create table … partition of`, this lets writers of other partitions go on.
    execute format('alter table audit.changes attach partition audit.%I for values from (%L) to (%L)', name, month, until);
  end
  $$;
comment on function audit.create_partition(timestamptz) is
  'Makes the partition of the month that begins then, in UTC, and moves what the default partition has of it. For the owner.';

create function audit.create_partitions() returns int
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    missing timestamptz[];
    next timestamptz;
  begin
    -- Of two at once one waits, and finds nothing left to do.
    perform pg_advisory_xact_lock(hashtextextended('audit.create_partitions', 0));
    missing = array(
      select wanted.month
      from (
        select month at time zone 'UTC' as month
        from date_trunc('month', statement_timestamp() at time zone 'UTC') as this,
          generate_series(this, this + interval '3 months', interval '1 month') as month
        union
        select date_trunc('month', occurred_at, 'UTC') from audit.changes_default
      ) as wanted
      where not exists (select from audit.partitions p where coalesce(p.since, '-infinity') <= wanted.month and wanted.month < p.until)
      order by wanted.month);
    foreach next in array missing loop
      perform audit.create_partition(next);
    end loop;
    return cardinality(missing);
  end
  $$;
comment on function audit.create_partitions() is
  'Makes the partitions that are missing of this month and the next three, and of what came to the default partition, and says how many. For the owner.';

create function oauth.purge_changes(batch int) returns table (changes int, months int, new_months int)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '100ms'
  as $$
  declare
    expired regclass;
  begin
    -- Runs as the owner of the history, since only that may make or drop a partition. Who uses one makes this give up, and waits no longer
    -- than it does. One kind of change for each transaction, so that no two locks are held together.
    if not pg_try_advisory_xact_lock(hashtextextended('oauth.purge_changes', 0)) then
      return;
    end if;
    changes = 0;
    months = 0;
    new_months = audit.create_partitions();
    if new_months = 0 then
      select p.partition into expired
      from audit.partitions p
      where p.until <= statement_timestamp() - audit.retention()
      order by p.until
      limit 1;
      if expired is not null then
        execute format('drop table %s', expired);
        months = 1;
      -- The one of many months, from before there were partitions; a policy says which rows.
      elsif to_regclass('audit.changes_before') is not null then
        delete from audit.changes_before
        where ctid = any (array(
          select old.ctid from audit.changes_before old
          where old.occurred_at < date_trunc('month', statement_timestamp() - audit.retention(), 'UTC')
          order by old.occurred_at
          limit purge_changes.batch));
        get diagnostics changes = row_count;
      end if;
    end if;
    return next;
  end
  $$;
comment on function oauth.purge_changes(int) is
  'Makes the partitions of the coming months; or drops the oldest one, if all of it is older than audit.retention; or deletes at most so many changes from before there '
  'were partitions; and says how many. No row when another session is at it; lock_not_available when the history is in use.';
grant execute on function oauth.purge_changes(int) to graph_oauth, graph_admin;

create function oauth.partition_state() returns table (relation text, since timestamptz, until timestamptz, in_default bigint)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
  as $$
  begin
    -- Runs as the owner because no other role reads a partition by its name. It tells how many rows, and none of them.
    return query
      with bounds as materialized (
        select parent.relation, coalesce(p.since, '-infinity') as since, p.until
        from (values ('audit.changes'), ('feed.changes')) as parent (relation)
        cross join lateral audit.partitions_of(parent.relation::regclass) as p
        where p.until is not null
      )
      select
        b.relation,
        min(b.since),
        -- Where the partitions that follow each other from now on end.
        case
          when bool_or(statement_timestamp() >= b.since and statement_timestamp() < b.until)
            then min(b.until) filter (
              where b.until > statement_timestamp() and not exists (select from bounds next where next.relation = b.relation and next.since = b.until))
          else statement_timestamp()
        end,
        case b.relation when 'audit.changes' then (select count(*) from audit.changes_default) else (select count(*) from feed.changes_default) end
      from bounds b
      group by b.relation;
  end
  $$;
comment on function oauth.partition_state() is
  'Of the history and the feed: since when there are partitions, until when without a gap from now on, and how many rows are in the default one, which a purge moves.';
grant execute on function oauth.partition_state() to graph_oauth, graph_auditor, graph_admin;

select audit.create_partitions();
