-- Findings of all kinds: what should be looked at, empty when all is well.
--
-- A login role that may become a role of requests is known by its name, which `db:migrate` accepts. Its settings are a finding: they hold for
-- every session, and no policy shows them. A role of both the GraphQL and the OAuth server is a finding when another role is for one of them.
--
-- A purge makes partitions ahead, every hour. Rows of the default partition, and a day without any, say that it does not.

create or replace view audit.findings with (security_invoker = true) as
  with memberships as (
    select
      member.oid, member.rolname, ours.role as request_role, ours.kind,
      exists (select from audit.accepted a where a.kind = 'authenticator_not_named' and a.object = member.rolname) as is_named
    from pg_roles member
    join audit.request_roles ours on pg_has_role(member.oid, ours.role_id, 'member')
    where member.rolcanlogin and not member.rolsuper
      -- A role that works as the owner is none of these.
      and not pg_has_role(member.oid, (select nspowner from pg_namespace where nspname = 'app_public'), 'member')
  ),
  authenticators as (
    select oid, rolname, bool_or(kind <> 'token') as of_oauth, bool_or(kind = 'token') as of_graph
    from memberships
    where is_named
    group by oid, rolname
  ),
  found (name, level, object, detail, remedy) as (
    select
      'authenticator_not_named',
      case when has_database_privilege(oid, (select d.oid from pg_database d where d.datname = current_database()), 'connect') then 'error' else 'warning' end,
      rolname::text,
      format('%s may become %s, and is not the role of AUTH_DATABASE_URL or OAUTH_DATABASE_URL', rolname, string_agg(request_role, ', ' order by request_role)),
      'drop role …, or revoke … from …; if it is the server''s: npm run db:migrate with its URL.'
    from memberships
    group by oid, rolname
    union all
    select
      'authenticator_setting', 'error', rolname::text, format('begins each session with %s', array_to_string(setconfig, ', ')),
      'Nothing of the service sets it: find out who did, then alter role … reset all, and alter role … in database … reset all.'
    from authenticators
    join pg_db_role_setting on setrole = oid and setdatabase in (0, (select oid from pg_database where datname = current_database()))
    union all
    select
      'authenticator_of_both', 'warning', rolname::text, 'may become the GraphQL and the OAuth server, though another role is for one of them',
      'When every server has OAUTH_DATABASE_URL: npm run db:migrate while none is connected, or revoke what it does not need.'
    from authenticators
    where of_oauth and of_graph and exists (select from authenticators where of_oauth <> of_graph)
    union all
    select
      'partition_default', 'warning', relation || '_default', format('has %s rows of a time that no partition is for', in_default),
      'npm run -s admin -- purge makes the partitions. Find out whose clock was wrong, or why there was no purge.'
    from oauth.partition_state()
    where in_default > 0
    union all
    select
      'partition_missing', 'error', relation, format('has partitions until %s alone', until),
      'npm run -s admin -- purge makes the next. The log of the service says why it did not.'
    from oauth.partition_state()
    where until < statement_timestamp() + interval '1 day'
    union all
    select
      'recorder_out_of_date', 'error', r.name, 'is recorded, and lost its trigger audit_columns: each write fails',
      format('select audit.record(%L, secrets => …), with all that it was given', r.name)
    from pg_trigger t
    join audit.relations r on r.relation = t.tgrelid
    where t.tgfoid = 'audit.record_row'::regproc and t.tgparentid = 0
      and length(substring(encode(t.tgargs, 'escape') from '^[a-z]*')) <> coalesce(
        (select cardinality(m.tgattr::int2[]) from pg_trigger m where m.tgrelid = t.tgrelid and m.tgname = 'audit_columns'), 0)
    union all
    select
      'recorder_out_of_date', 'error', r.name, 'is followed by a name, by columns or by a key that it no longer has',
      format('select feed.follow(%L), and `shown` and `ignored` where they are no longer right', r.name)
    from pg_trigger t
    join audit.relations r on r.relation = t.tgrelid
    cross join lateral (
      select array_agg(convert_from(decode(part, 'escape'), 'UTF8') order by place) as names
      from unnest(string_to_array(encode(t.tgargs, 'escape'), '\000')) with ordinality as parts (part, place)
      where place <= t.tgnargs
    ) as given
    where t.tgfoid = 'feed.record_row'::regproc and t.tgparentid = 0
      and (
        not exists (
          select from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where format('%I.%I', n.nspname, c.relname) = given.names[1] and (c.oid = t.tgrelid or c.relkind = 'v'))
        or given.names[5:] is distinct from array(
          select a.attname::text
          from pg_index i
          cross join unnest(i.indkey) with ordinality as k (number, place)
          join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
          where i.indrelid = t.tgrelid and i.indisprimary and k.place <= i.indnkeyatts and a.attname <> 'organization_id'
          order by k.place)
        or exists (
          select from unnest(array_remove(given.names[2] || given.names[4]::text[], '')) as name
          where name not in (select a.attname from pg_attribute a where a.attrelid = t.tgrelid and a.attnum > 0))
        or given.names[3]::int <> coalesce(
          (select cardinality(m.tgattr::int2[]) from pg_trigger m where m.tgrelid = t.tgrelid and m.tgname = 'follow_columns'), 0))
  )
  select name, level, object, detail, remedy
  from audit.lints
  -- What a range type brings along is not to be set otherwise.
  where object not in (select objid::regprocedure::text from pg_depend where classid = 'pg_proc'::regclass and deptype = 'i')
  union all
  select name, level, object, detail, remedy from audit.graph_lints
  union all
  select name, level, object, detail, remedy from audit.claim_lints
  union all
  select name, level, object, detail, remedy from audit.column_lints
  union all
  select name, level, object, detail, remedy
  from (select * from audit.right_lints union all select * from audit.move_lints) as l
  where not exists (select from audit.accepted a where a.kind = l.name and a.object = l.object)
  union all
  -- Accepted by its object and role alone, and not by this name for all roles.
  select
    'right_not_accepted', 'error', object,
    format('%s may %s %s, which this version does not grant', who, command, coalesce('(' || columns || ')', 'all of it')),
    concat(
      'revoke ', plain, ' (' || columns || ')', ' on ', object, ' from ', quote_ident(who),
      '; grant ' || plain || ' (' || accepted_columns || ') on ' || object || ' to ' || quote_ident(who),
      format('; or accept it: insert into audit.accepted (kind, object, who, reason) values (''right'', %L, %L, …)', object, who))
  from audit.unaccepted_rights, regexp_replace(command, '^(.*) with grant option$', 'grant option for \1') as plain
  -- What is everybody's is a lint, and what asks no policy a bypass.
  where who_id <> 0 and (columns is not null or command !~ '^(truncate|references|trigger|maintain)')
  union all
  -- The other kinds are lints.
  select
    -- Without a trace is not beyond a right.
    'bypass_' || replace(kind, ' ', '_'), case kind when 'history' then 'warning' else 'error' end, object, format('%s %s', who, how),
    case kind
      when 'history' then 'select audit.record(…)'
      when 'set role' then format('revoke %I from %I', object, who) else 'Take the right away'
    end || '; or insert kind, object, who and the reason into audit.accepted.'
  from audit.bypasses
  where not known and kind not in ('table', 'partition', 'materialized view', 'foreign table', 'definer', 'view')
  union all
  select name, level, object, detail, remedy
  from found f
  where not exists (select from audit.accepted a where a.kind = f.name and a.object = f.object);
comment on view audit.findings is 'What should be looked at; empty when all is well.';

grant select on audit.findings to graph_auditor, graph_admin;
