--! Previous: sha1:64c19acca182dfbe13b131b9574ccd520ccdb3b0
--! Hash: sha1:ff11f57a7fa9d82294d300c84f7cf04fc749d59f
--! Message: history by month

-- What grows: a history in months, and a question about a row that asks policies once for each role.

drop function if exists audit.seeing(regclass, jsonb, text);
drop function if exists audit.trying(text, regclass, jsonb);
drop function if exists audit.condition_for(regclass, text, int);
drop function if exists oauth.purge_changes(int);
drop function if exists audit.create_partitions();
drop function if exists audit.create_partition(timestamptz);
drop view if exists audit.partitions;
drop function if exists audit.guard_partition(regclass);

-- The history in months. To drop a partition takes a moment however much is in it, where deleting its rows took as long as writing them.
-- Only the owner has a right over a partition; all other roles read and write audit.changes, and are bound by its policies.

create function audit.guard_partition(partition regclass) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  begin
    execute format('alter table %s enable row level security, force row level security', partition);
    execute format('drop policy if exists select_graph_admin on %s', partition);
    execute format('create policy select_graph_admin on %s for select to graph_admin using (true)', partition);
    execute format('comment on policy select_graph_admin on %s is %L', partition, 'A backup by the owner reads each partition; all others read audit.changes.');
  end
  $$;
comment on function audit.guard_partition(regclass) is 'Lets the owner read a partition of the history by its name, and no other role.';

-- What was recorded before there were partitions becomes the first of them, as it is: its rows are read once, to see that none is of a later
-- month, and not written. Writers of the history wait for that. Its indexes are built later, by `npm run db:migrate`, concurrently.

do $$
declare
  recorded record;
  newest timestamptz;
  last_id bigint;
  until timestamptz;
begin
  if (select relkind from pg_class where oid = 'audit.changes'::regclass) = 'p' then
    return;
  end if;

  -- Before the lock: no writer waits for this.
  select max(occurred_at) into newest from audit.changes;
  lock table audit.changes in access exclusive mode;
  select last_value into last_id from audit.changes_id_seq where is_called;
  until = (date_trunc('month', greatest(newest, clock_timestamp()) at time zone 'UTC') + interval '1 month') at time zone 'UTC';

  alter table audit.changes rename to changes_before;
  alter table audit.changes_before rename constraint changes_pkey to changes_before_pkey;
  alter index audit.changes_occurred_at_idx rename to changes_before_occurred_at_brin_idx;
  for recorded in select polname from pg_policy where polrelid = 'audit.changes_before'::regclass loop
    execute format('drop policy %I on audit.changes_before', recorded.polname);
  end loop;
  revoke all on audit.changes_before from graph_auditor, graph_admin, graph_helper;
  alter table audit.changes_before alter column id drop identity;

  create table audit.changes (like audit.changes_before including comments including constraints including defaults)
    partition by range (occurred_at);
  alter table audit.changes alter column id add generated always as identity;
  perform setval('audit.changes_id_seq', last_id) where last_id is not null;

  if last_id is null then
    drop table audit.changes_before;
  else
    perform audit.guard_partition('audit.changes_before');
    create policy delete_graph_admin on audit.changes_before for delete to graph_admin
      using (occurred_at <= statement_timestamp() - (select audit.retention()));
    comment on policy delete_graph_admin on audit.changes_before is 'oauth.purge_changes deletes what is older than audit.retention.';
    execute format('alter table audit.changes attach partition audit.changes_before for values from (minvalue) to (%L)', until);
  end if;
end
$$;

comment on table audit.changes is 'Every insert, update and delete of a tenant''s rows, in a partition for each month. Append-only.';
-- Absent on purpose: a primary key, which would have to include the time. Each partition has its own, for the history of a row or person in
-- order: `where subject_id = … order by id`. The sequence makes ids unique among partitions.

alter table audit.changes enable row level security, force row level security;
drop policy if exists select_graph_admin on audit.changes;
create policy select_graph_admin on audit.changes for select to graph_admin using (true);
comment on policy select_graph_admin on audit.changes is 'Administration reads the history, and cannot rewrite it.';
drop policy if exists select_graph_auditor on audit.changes;
create policy select_graph_auditor on audit.changes for select to graph_auditor using (true);
comment on policy select_graph_auditor on audit.changes is 'An auditor reads the history of every organization.';
drop policy if exists select_graph_helper on audit.changes;
create policy select_graph_helper on audit.changes for select to graph_helper using (true);
comment on policy select_graph_helper on audit.changes is 'audit.erase_person finds what it erases.';
drop policy if exists insert_graph_helper on audit.changes;
create policy insert_graph_helper on audit.changes for insert to graph_helper with check (true);
comment on policy insert_graph_helper on audit.changes is 'The triggers of the recorded tables add to the history.';
drop policy if exists update_graph_helper on audit.changes;
create policy update_graph_helper on audit.changes for update to graph_helper
  using (true) with check (before is null and after is null);
comment on policy update_graph_helper on audit.changes is 'audit.erase_person takes values away; it can write none.';
grant select on audit.changes to graph_auditor, graph_admin;
grant select (organization_id, subject_id, before, after), update (before, after) on audit.changes to graph_helper;
grant insert (organization_id, subject_id, relation, row_id, command, columns, before, after, role, login, application_id, user_id, grant_id, request_id)
  on audit.changes to graph_helper;
-- Absent on purpose: any right to delete. What is old goes with its partition.
revoke execute on function audit.retention() from graph_helper;

-- `on only`: these build nothing. Partitions that are made from here on get them; `npm run db:migrate` builds what older ones lack.

-- The newest first, and what happened when.
-- squawk-ignore require-concurrent-index-creation
create index if not exists changes_occurred_at_idx on only audit.changes (occurred_at, id);
-- What happened in an organization.
-- squawk-ignore require-concurrent-index-creation
create index if not exists changes_organization_id_idx on only audit.changes (organization_id, occurred_at);
-- What a person did, and what an application did. A session of psql is neither.
-- squawk-ignore require-concurrent-index-creation
create index if not exists changes_user_id_idx on only audit.changes (user_id, occurred_at) where user_id is not null;
-- squawk-ignore require-concurrent-index-creation
create index if not exists changes_application_id_idx on only audit.changes (application_id, occurred_at) where application_id is not null;

-- A write never fails for want of a month. What comes here is moved as soon as its month is made.
create table if not exists audit.changes_default partition of audit.changes
  (constraint changes_default_pkey primary key (subject_id, organization_id, id)) default;
select audit.guard_partition('audit.changes_default');

create view audit.partitions with (security_invoker = true) as
  select
    c.oid::regclass as partition,
    (regexp_match(bound, 'FROM \(''([^'']+)''\)'))[1]::timestamptz as since,
    (regexp_match(bound, 'TO \(''([^'']+)''\)'))[1]::timestamptz as until
  from pg_inherits i
  join pg_class c on c.oid = i.inhrelid
  cross join lateral pg_get_expr(c.relpartbound, c.oid) as bound
  where i.inhparent = 'audit.changes'::regclass;
comment on view audit.partitions is 'The partitions of the history and the times that each is for; the default partition has neither bound.';
grant select on audit.partitions to graph_auditor, graph_admin;

create function audit.create_partition(month timestamptz) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    until timestamptz = (month at time zone 'UTC' + interval '1 month') at time zone 'UTC';
    name text = 'changes_' || to_char(month at time zone 'UTC', 'YYYY_MM');
  begin
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
          where old.occurred_at <= statement_timestamp() - audit.retention()
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

select audit.create_partitions();

-- Who can see or change this row: the policies are asked once for each role, with the claims of all principals of the row's organization at
-- once. That says who may see it; who does is found by trying, as ever. What an update or a delete finds its row by has to be seen, too.

create function audit.condition_for(relation regclass, role text, depth int default 0) returns text
  language plpgsql stable set search_path = pg_catalog, pg_temp
  as $$
  declare
    condition text = (
      select string_agg(format('(%s)', p.using_expression), ' or ')
      from audit.matrix m
      join audit.policies p on p.relation = m.relation and p.policy = any (m.policies)
      where m.relation = condition_for.relation and m.role = condition_for.role and m.command = 'select' and m.granted and p.permissive
        and m.row_security <> 'off'
        -- What is narrower than this may be asked for by `not exists`; the row itself is tried anyway.
        and (depth = 0 or not exists (select from audit.policies narrower where narrower.relation = m.relation and not narrower.permissive)));
    called text[];
    body text;
    source record;
    inner_condition text;
  begin
    -- A claim is a function of a setting, and what was granted to a person is a function of claims: both give way to what they return.
    condition = regexp_replace(condition, '\( SELECT (\w+\.\w+\(\)) AS \w+\)', '\1', 'g');
    for depth_of_calls in 1 .. 20 loop
      called = regexp_match(condition, '\m(\w+)\.(\w+)\(\)');
      exit when called is null;
      select '(' || substring(p.prosrc from '(?i)^\s*begin\s+return\s+([^;]*);\s*end;?\s*$') || ')::' || format_type(p.prorettype, null) into body
      from pg_proc p
      where p.pronamespace = to_regnamespace(called[1]) and p.proname = called[2] and p.pronargs = 0 and not p.prosecdef;
      condition = replace(condition, format('%s.%s()', called[1], called[2]), body);
    end loop;
    condition = regexp_replace(condition, 'current_setting\(''graph\.(organization_id|application_id|user_id)'', true\)', 'coalesce(asked.\1::text, '''')', 'g');

    -- Another table shows what its own policies let through.
    for source in
      select distinct named[1] as name, split_part(named[1], '.', 2) as alias
      from regexp_matches(condition, '\m(?:from|join)\s+(\w+\.\w+)', 'gi') as named
    loop
      inner_condition = case when depth < 3 then audit.condition_for(source.name::regclass, role, depth + 1) end;
      condition = regexp_replace(
        condition, format('\m(from|join)\s+%s(?=\s*(?:\)|$|where\M|join\M|left\M|on\M))', source.name), format('\1 %s %s', source.name, source.alias), 'gi');
      condition = regexp_replace(
        condition, format('\m(from|join)\s+%s\M', source.name), format('\1 (select * from %s where ', source.name) || replace(inner_condition, chr(92), repeat(chr(92), 2)) || ')', 'gi');
    end loop;
    -- What is left may depend on the row and on who is asked, and on nothing else.
    return case when condition !~ '\m\w+\.\w+\(|current_setting|current_user|session_user' then condition end;
  end
  $$;
comment on function audit.condition_for(regclass, text, int) is
  'The select policies of a role as one condition on a row and on `asked`, a row of audit.principals, instead of claims; null when they call what is not understood.';

create function audit.trying(asked text, relation regclass, value jsonb) returns setof audit.principals
  language plpgsql volatile set search_path = pg_catalog, pg_temp set jit = off
  as $$
  declare
    found text[];
  begin
    -- Prepared once and run under the claims of each, without a subtransaction for each.
    begin
      execute format('do %L', format($do$
        declare
          next audit.principals;
          found text[] = '{}';
          asked audit.principals[] = array(select p from (%s) as p);
        begin
          if asked <> '{}' then
            perform audit.become(asked[1]);
          end if;
          foreach next in array asked loop
            perform set_config('graph.organization_id', next.organization_id::text, true);
            perform set_config('graph.application_id', coalesce(next.application_id::text, ''), true);
            perform set_config('graph.user_id', coalesce(next.user_id::text, ''), true);
            if exists (select from %s where %s) then
              found = found || next.principal;
            end if;
          end loop;
          perform set_config('audit.found', found::text, true);
        end
      $do$, asked, relation, audit.condition_of(relation, value)));
      found = current_setting('audit.found', true);
      raise exception using errcode = 'AUDIT';
    exception
      when sqlstate 'AUDIT' then
        return query execute format('select p.* from (%s) as p where p.principal = any ($1)', asked) using found;
      when insufficient_privilege then
        -- A policy may refuse some by an error, which ends the statement for all of them: each by itself.
        return query execute format('select p.* from (%s) as p where audit.attempt(p::audit.principals, $1, $2, %L) = %L', asked, 'select', 'allowed')
          using relation, value;
    end;
  end
  $$;
comment on function audit.trying(text, regclass, jsonb) is 'Which principals of a query, all of one role, see a row, each tried.';

create function audit.seeing(relation regclass, value jsonb, role text) returns setof audit.principals
  language plpgsql volatile set search_path = pg_catalog, pg_temp set jit = off
  as $$
  declare
    -- For a row of no organization all principals are tried.
    organization_id text = coalesce(value ->> 'organization_id', case relation when 'app_hidden.organizations'::regclass then value ->> 'id' end);
    asked text = format('select * from audit.principals where role = %L and not disabled', role);
    stranger audit.principals;
    candidates text[];
  begin
    select null, null, p.role, p.scope, gen_random_uuid(), gen_random_uuid(), case when p.user_id is not null then gen_random_uuid() end, false
      into stranger
      from audit.principals p where p.role = seeing.role limit 1;
    if stranger.role is null then
      return;
    end if;
    -- A stranger sees a row only by a policy that does not ask for the organization: then the principals of all are tried.
    if organization_id is null or audit.attempt(stranger, relation, value, 'select') = 'allowed' then
      return query select * from audit.trying(asked, relation, value);
      return;
    end if;
    asked = format('%s and organization_id = %L', asked, organization_id);

    begin
      execute format('select array(select principal from (%s) as asked where exists (select from jsonb_populate_record(null::%s, $1) as %I where %s))',
          asked, relation, (select relname from pg_class where oid = relation), audit.condition_for(relation, role))
        into candidates using value;
    exception
      -- What was made of the policies is no statement: all of the organization are tried.
      when others then candidates = null;
    end;
    -- A hundred others are tried, too, since the candidates are only as right as what was made of the policies.
    if candidates is null
      or exists (select from audit.trying(format('%s and principal <> all (%L) limit 100', asked, candidates), relation, value))
    then
      return query select * from audit.trying(asked, relation, value);
    else
      return query select * from audit.trying(format('%s and principal = any (%L)', asked, candidates), relation, value);
    end if;
  end
  $$;
comment on function audit.seeing(regclass, jsonb, text) is
  'The principals of a role that see a row, each tried: those of the row''s organization whom its policies let through, or all when even a stranger sees it.';

create or replace function audit.who_can(relation regclass, key text)
  returns table (command text, principal text, name text, columns text[], policies text[], rules text[], through text)
  language plpgsql volatile set search_path = pg_catalog, pg_temp set jit = off
  as $$
  declare
    value jsonb = audit.find_row(relation, key);
    granted audit.matrix;
    candidate audit.principals;
    candidates audit.principals[] = '{}';
    passed audit.policies[];
  begin
    for granted in
      select m.* from audit.matrix m
      where m.relation = who_can.relation and m.granted and m.policies <> '{}' and m.command <> 'insert'
      order by array_position(array['select', 'update', 'delete'], m.command), m.role
    loop
      if granted.command = 'select' then
        candidates = candidates || array(select p from audit.seeing(relation, value, granted.role) as p);
      end if;
      for candidate in
        select p.* from unnest(candidates) as p where p.role = granted.role order by p.name, p.principal
      loop
        continue when granted.command <> 'select' and audit.attempt(candidate, relation, value, granted.command) <> 'allowed';
        passed = array(
          select p from audit.policies p
          where p.relation = who_can.relation and p.policy = any (granted.policies)
            and audit.holds(candidate, p.relation, value, p.using_expression)
          order by p.policy);
        command = granted.command;
        principal = candidate.principal;
        name = candidate.name;
        columns = granted.columns;
        policies = array(select p.policy::text from unnest(passed) as p);
        rules = array(select p.rule from unnest(passed) as p);
        through = audit.reason_of(candidate, relation, value);
        return next;
      end loop;
    end loop;
  end
  $$;
comment on function audit.who_can(regclass, text) is
  'Every principal of the row''s organization that can select, update or delete it, each tried: by which grant (columns; {} is all), which policies, and through which access. '
  'Takes about a second for a hundred thousand people.';
grant execute on function
  audit.condition_for(regclass, text, int), audit.trying(text, regclass, jsonb), audit.seeing(regclass, jsonb, text)
  to graph_admin;

delete from audit.accepted where kind = 'definer' and object = 'oauth.purge_changes(integer)';
insert into audit.accepted (kind, object, who, reason) values
  ('definer', 'oauth.purge_changes(integer)', 'graph_admin, graph_oauth', 'Makes and drops partitions of the history, which only its owner may; those alone of which all is older than audit.retention.'),
  ('setting_changed', 'audit.trying(text,regclass,jsonb)', '', 'Becomes callers to try what they may, for the owner alone; what it sets ends with a subtransaction.'),
  ('no_primary_key', 'audit.changes', '', 'Each of its partitions has one. Its own would have to include the time.')
on conflict on constraint accepted_pkey do update set reason = excluded.reason;
