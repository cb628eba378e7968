--! Previous: sha1:1e3e78d03e8a42b9768ef94a76fcac91e959284b
--! Hash: sha1:d2e0b1b208ef3cd06477c69fb9896c55d904fb28
--! Message: audit bypasses

-- Everything that escapes row-level security or the history: owners, superusers, definers, views, rules and others. Each is as this service
-- needs it, or is accepted with a reason; everything else is a finding.
--
-- The view says the reasons that follow from the catalogue. The others are rows of audit.accepted: the last file of the baseline has them.

-- What was looked at and is meant to be so. An administrator adds to it; a reason is a sentence that the next one understands.
create table audit.accepted (
  kind text not null,
  object text not null,
  who text not null,
  reason text not null,
  hash text,
  constraint accepted_pkey primary key (kind, object, who),
  constraint accepted_length check (
    char_length(kind) <= 200 and char_length(object) <= 2000 and char_length(who) <= 2000 and char_length(hash) <= 10000),
  constraint accepted_reason_text check (char_length(reason) between 1 and 2000)
);
-- Absent on purpose: an organization. What escapes row-level security escapes it for all of them.
comment on table audit.accepted is 'Rows of audit.bypasses that are meant to be so, each with its reason.';
comment on column audit.accepted.hash is
  'What was accepted: a hash of a function, or of a goal of a table or view; the rights of `right`; the readers of `secret_readable`. '
  'What has changed since is a finding.';

create function audit.called_in(text, is_pinned boolean) returns setof oid
  language sql stable parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on
  as $$
  select p.oid
  from regexp_matches($1,
    '(?:("(?:[^"]|"")+"|[[:alpha:]_][\w$]*)\s*\.\s*)?("(?:[^"]|"")+"|[[:alpha:]_][\w$]*)\s*\(', 'g') as found (parts)
  join pg_proc p on p.proname = case when parts[2] like '"%' then replace(substr(parts[2], 2, length(parts[2]) - 2), '""', '"') else lower(parts[2]) end
  join pg_namespace n on n.oid = p.pronamespace
  -- The 3,300 functions of PostgreSQL itself take most of the time, and cannot be accepted.
  where n.nspname not in ('pg_catalog', 'information_schema')
    and case when parts[1] is null then not is_pinned
      else n.nspname = case when parts[1] like '"%' then replace(substr(parts[1], 2, length(parts[1]) - 2), '""', '"') else lower(parts[1]) end
    end
  $$;
comment on function audit.called_in(text, boolean) is
  'The functions of the database that a text calls: a call is a name before a parenthesis. A pinned text needs a schema to name one.';

-- Of all that a proof reads of a function: body, defaults, volatility, settings, owner, and those of the functions that the bodies call, at any depth.
create function audit.hash_of_functions(functions oid[]) returns text
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on set quote_all_identifiers = off
  set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex' set extra_float_digits = 1
  as $$
  with recursive called (oid) as (
    select unnest(functions)
    union
    select inner_call
    from called
    join pg_proc caller using (oid)
    -- Pinned is what has no other schema in its search path, and names no path: functions are not looked for among temporary objects.
    cross join audit.called_in(
      concat_ws(chr(10), caller.prosrc, pg_get_function_sqlbody(caller.oid)),
      caller.prosrc !~* 'search_path|\mset\s+((local|session)\s+)?schema\M|\mreset\M' and exists (
        select from unnest(caller.proconfig) as setting where setting ~ '^search_path=(pg_catalog(, pg_temp)?|"")?$')) as inner_call
  ),
  hashed (own) as (
    select left(encode(sha256(convert_to(concat_ws(chr(10),
      p.prosrc, pg_get_function_sqlbody(p.oid), l.lanname, p.proconfig, p.prosecdef, pg_get_userbyid(p.proowner),
      pg_get_function_arguments(p.oid), p.prorettype::regtype, p.proretset, p.provolatile, p.proisstrict, p.proleakproof), 'UTF8')), 'hex'), 16)
    from called join pg_proc p using (oid) join pg_language l on l.oid = p.prolang
  )
  select case count(*) when 0 then null when 1 then max(own)
    else left(encode(sha256(convert_to(string_agg(own, ' ' order by own collate "C"), 'UTF8')), 'hex'), 16) end
  from hashed
  $$;
comment on function audit.hash_of_functions(oid[]) is 'A hash of what functions do, and with whose rights; null of none.';

-- Of a goal of a table or view: what decides it and may change by a migration. Columns are not in it, since a new one changes no answer.
create function audit.hash_of_goal(relation regclass, command text, who regrole) returns text
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on set quote_all_identifiers = off
  set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex' set extra_float_digits = 1
  as $$
  with recursive read (oid, command) as (
    select relation::oid, hash_of_goal.command
    union
    -- What a view reads.
    select d.refobjid, 'select'
    from read
    join pg_rewrite r on r.ev_class = read.oid
    join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass
  ),
  part (text) as (
    select concat_ws(' ', 'table', c.oid::regclass, c.relrowsecurity, c.relforcerowsecurity, c.reloptions,
      case when c.relkind in ('v', 'm') then pg_get_viewdef(c.oid) end)
    from read join pg_class c using (oid)
    union all
    select concat_ws(' ', 'policy', c.polrelid::regclass, c.polname, c.polcmd, c.polpermissive,
      pg_get_expr(c.polqual, c.polrelid), 'check', pg_get_expr(c.polwithcheck, c.polrelid))
    from read
    join pg_policy c on c.polrelid = read.oid
    where c.polcmd in ('*', case read.command when 'select' then 'r' when 'insert' then 'a' when 'update' then 'w' when 'delete' then 'd' end::"char")
      and exists (select from unnest(c.polroles) as role where role = 0 or pg_has_role(who, role, 'member'))
    union all
    select concat_ws(' ', 'right', read.command, read.oid::regclass, a.attname)
    from read
    join pg_attribute a on a.attrelid = read.oid and a.attnum > 0 and not a.attisdropped
    where read.command in ('select', 'insert', 'update') and not has_table_privilege(who, read.oid, read.command)
      and has_column_privilege(who, read.oid, a.attnum, read.command)
    union all
    select concat_ws(' ', 'right', read.command, read.oid::regclass) from read where has_table_privilege(who, read.oid, read.command)
    union all
    select pg_get_triggerdef(t.oid)
    from read
    join pg_trigger t on t.tgrelid = read.oid and not t.tgisinternal
    where t.tgtype & case read.command when 'insert' then 4 when 'delete' then 8 when 'update' then 16 when 'truncate' then 32 else 0 end > 0
  ),
  whole (text) as (select string_agg(part.text, chr(10) order by part.text collate "C") from part)
  select left(encode(sha256(convert_to(concat_ws(chr(10), whole.text, audit.hash_of_functions(array(select audit.called_in(whole.text, true)))), 'UTF8')), 'hex'), 16)
  from whole
  $$;
comment on function audit.hash_of_goal(regclass, text, regrole) is
  'A hash of what decides whether a role may give a command: the policies and rights for it, the triggers that it fires, what a view reads, and the functions that these call.';

create function audit.hash_of(object text, who text) returns text
  language sql stable parallel safe set search_path = pg_catalog, pg_temp set quote_all_identifiers = off
  as $$
  select case
    when goal[1] = 'trigger' and trigger.oid is not null then left(encode(sha256(convert_to(concat_ws(chr(10),
      trigger.definition, audit.hash_of_functions(array(select trigger.tgfoid union select audit.called_in(trigger.definition, true)))), 'UTF8')), 'hex'), 16)
    when goal is null or goal[1] in ('call', 'trigger') then audit.hash_of_functions(array(
      select p.oid
      from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname not in ('pg_catalog', 'information_schema')
        and format('%I.%I(%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes)) = coalesce(goal[2], object)))
    when to_regclass(goal[2]) is not null and to_regrole(who) is not null then audit.hash_of_goal(goal[2]::regclass, goal[1], who::regrole)
  end
  from (select regexp_match(object, '^.*?: (call|trigger|select|insert|update|delete|truncate) on (.*)$') as goal) as asked
  -- With its arguments and its condition.
  left join lateral (
    select t.oid, t.tgfoid, pg_get_triggerdef(t.oid) as definition
    from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
    where goal[1] = 'trigger' and goal[2] = format('%s on %I.%I', t.tgname, n.nspname, c.relname)
  ) as trigger on true
  $$;
comment on function audit.hash_of(text, text) is 'A hash of what an acceptance is about: a function, or a goal of a table or view; null of anything else.';

create view audit.rights with (security_invoker = true) as
  select
    o.object, o.part, g.who_id, case g.who_id when 0 then 'public' else coalesce(pg_get_userbyid(g.who_id)::text, '') end as who, g.command
  from (
    select format('%s%I.%I', case c.relkind when 'S' then 'sequence ' end, n.nspname, c.relname), a.attname::text, n.nspname,
      case when a.attname is null then c.relacl else a.attacl end, c.relowner
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    cross join lateral (
      select null, null
      union all
      select a.attname, a.attacl from pg_attribute a where c.relkind <> 'S' and a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    ) as a (attname, attacl)
    where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S') and not c.relispartition
    union all
    select format('schema %I', n.nspname), null, n.nspname, n.nspacl, n.nspowner from pg_namespace n
  ) as o (object, part, schema, acl, owner)
  cross join lateral (
    select null::oid, 'exists'
    union all
    select acl.grantee, lower(acl.privilege_type) || case when acl.is_grantable then ' with grant option' else '' end
    from aclexplode(o.acl) acl
    where acl.grantee <> o.owner
  ) as g (who_id, command)
  where o.schema !~ '^(pg_|information_schema$|graphile_)';
comment on view audit.rights is
  'Every right on a table, view, sequence, schema or column, as it was granted. Each that exists has the right `exists` of no role.';

-- A migration runs at each save of the file, so what is accepted again replaces what was accepted before.
create function audit.note_hash() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
  as $$
  begin
    delete from audit.accepted where (kind, object, who) = (new.kind, new.object, new.who);
    new.hash = coalesce(new.hash, case
      when new.kind in ('definer', 'invariant') then audit.hash_of(new.object, new.who)
      when new.kind = 'right' then
        array(select concat_ws(' ', r.command, r.part) from audit.rights r where r.object = new.object and r.who = new.who order by 1)::text
      when new.kind = 'secret_readable' then array(
        select r.role
        from audit.request_roles r
        join pg_attribute a on format('%s.%s', a.attrelid::regclass, a.attname) = new.object
        where has_column_privilege(r.role_id, a.attrelid, a.attnum, 'select')
        order by 1)::text
    end);
    return new;
  end
  $$;
comment on function audit.note_hash() is 'Replaces a former acceptance, and notes what is accepted, so that what changes later is not.';
create trigger note_hash before insert on audit.accepted for each row execute function audit.note_hash();
grant execute on function
  audit.called_in(text, boolean), audit.hash_of_functions(oid[]), audit.hash_of_goal(regclass, text, regrole), audit.hash_of(text, text), audit.note_hash()
  to graph_admin;

alter table audit.accepted enable row level security, force row level security;
create policy all_graph_admin on audit.accepted for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on audit.accepted is 'Administration accepts a bypass, and takes that back.';
create policy select_graph_auditor on audit.accepted for select to graph_auditor using (true);
comment on policy select_graph_auditor on audit.accepted is 'An auditor reads what was accepted, and why.';
grant select, insert, update, delete on audit.accepted to graph_admin;
grant select on audit.accepted to graph_auditor;

-- What was granted since the rights on an object were accepted. A column that came later, and an object of your own, is no part of them.
create view audit.unaccepted_rights with (security_invoker = true) as
  with known as materialized (
    select a.object, a.who, a.hash::text[] as rights from audit.accepted a where a.kind = 'right'
  ),
  -- Planned as a few rows, the acceptances would each read all rights.
  granted as materialized (select * from audit.rights)
  select
    r.object, r.who_id, r.who, r.command,
    string_agg(quote_ident(r.part), ', ' order by r.part) as columns,
    -- To take a right to a whole table away takes those to its columns along.
    case when bool_and(r.part is null) then (
      select string_agg(quote_ident(substr(kept, length(r.command) + 2)), ', ')
      from unnest(min(a.rights)) as kept
      where kept ^@ (r.command || ' ') and kept !~ ' with grant option'
    ) end as accepted_columns
  from granted r
  join known k on k.object = r.object and k.who = '' and concat_ws(' ', 'exists', r.part) = any (k.rights)
  left join known a on a.object = r.object and a.who = r.who
  where r.who <> '' and not array[r.command, concat_ws(' ', r.command, r.part)] && coalesce(a.rights, '{}')
  group by r.object, r.who_id, r.who, r.command, (r.part is null);
comment on view audit.unaccepted_rights is
  'Rights on objects of this version, by role, that it does not grant and that were not accepted since; empty when all is well.';

create view audit.matrix with (security_invoker = true) as
  with beyond as materialized (
    select * from audit.unaccepted_rights
  ),
  effective as (
    select
      r.relation, r.name, r.kind, r.row_security, roles.role_id, roles.role, command,
      has_table_privilege(roles.role, r.relation, command) as whole,
      array(
        select a.attname::text
        from pg_attribute a
        where a.attrelid = r.relation and a.attnum > 0 and not a.attisdropped
          -- Rows are deleted whole: there is no such privilege of a column.
          and has_column_privilege(roles.role, r.relation, a.attnum, nullif(command, 'delete'))
        order by a.attnum
      ) as columns
    from audit.relations r
    cross join audit.roles roles
    cross join unnest(array['select', 'insert', 'update', 'delete']) as command
  )
  select
    e.relation,
    e.kind,
    e.command,
    e.role,
    e.whole or e.columns <> '{}' as granted,
    case when e.whole then '{}' else e.columns end as columns,
    e.row_security,
    p.policies,
    case when b.rights is null then p.rules
      else array(select concat(rule, ' It was written without this right: ', b.rights, '.') from unnest(p.rules) as rule) end as rules,
    array(
      select a.attname::text
      from pg_attribute a
      where a.attrelid = e.relation and a.attnum > 0 and not a.attisdropped
        and col_description(a.attrelid, a.attnum) ~ '(^|\n)[ \t]*@personalData(\s|$)'
        and (e.whole or a.attname = any (e.columns))
      order by a.attnum
    ) as personal
  from effective e
  cross join lateral (
    select
      string_agg(concat(u.command, ' (' || u.columns || ')', ' to ' || nullif(u.who, e.role)), ', ' order by u.command, u.who) as rights
    from beyond u
    where u.object = e.name and u.command ^@ e.command
      and (u.who_id in (0, e.role_id) or e.role_id <> 0 and pg_has_role(e.role_id, u.who_id, 'usage'))
  ) as b
  cross join lateral (
    select
      coalesce(array_agg(p.policy::text order by p.policy), '{}') as policies,
      coalesce(array_agg(p.rule order by p.policy), '{}') as rules
    from audit.policies p
    where p.relation = e.relation and p.command in (e.command, 'all')
      and exists (
        select from unnest(p.role_ids) as named
        where named in (0, e.role_id) or e.role_id <> 0 and pg_has_role(e.role_id, named, 'usage'))
  ) as p;
comment on view audit.matrix is 'Every table and view, command and role: what is granted, and the policies that decide about rows.';
comment on column audit.matrix.granted is 'Whether the role may give the command at all; the policies then say for which rows.';
comment on column audit.matrix.columns is 'The columns that are granted; empty when all are, or none.';
comment on column audit.matrix.row_security is
  '`forced` on the owner, too; `off` means that policies decide nothing. Null for views, which ask the policies of their tables.';
comment on column audit.matrix.rules is
  'The policies in plain English, by their names, with rights that they did not count with. Without one the command finds no row.';
comment on column audit.matrix.personal is
  'The columns with personal data, by the tag @personalData, that the role may give the command for; of a delete those of the row.';

-- A role of requests that may become another of this service or of PostgreSQL is a finding, and what it could do as that one follows from
-- it. Until it is accepted, no finding counts the rights and policies of the other role as its own: there is one cause, and one remedy.
create view audit.lent_roles with (security_invoker = true) as
  select q.role_id as borrower_id, lender.oid as lender_id
  from audit.request_roles q
  join pg_roles lender on lender.oid <> q.role_id and pg_has_role(q.role_id, lender.oid, 'member')
    and (lender.rolname ~ '^(graph|pg)_' or lender.oid in (select role_id from audit.request_roles))
  where not exists (select from audit.accepted a where a.kind = 'set role' and a.object = lender.rolname and a.who = q.role);
comment on view audit.lent_roles is 'Which role a role of requests may become, without having been accepted; empty when all is well.';

create view audit.bypasses with (security_invoker = true) as
  with main_owner as (
    select nspowner as oid from pg_namespace where nspname = 'app_public'
  ),
  request_roles as (
    select role_id as oid from audit.request_roles
  ),
  -- Every role but superusers that may become one of ours, at once or by granting it to itself.
  memberships as (
    select member.oid as member_id, member.rolname as member, ours.oid, ours.rolname, member.rolcanlogin
    from pg_roles member
    join pg_roles ours on ours.oid <> member.oid and (
      (ours.rolname like 'graph\_%' or ours.oid in (select oid from request_roles)) and not ours.rolcanlogin
      or ours.rolname like 'pg\_%' and member.oid in (select oid from request_roles))
    where not member.rolsuper and pg_has_role(member.oid, ours.oid, 'member')
      -- As a role of requests, which is another row.
      and not exists (
        select from audit.lent_roles l
        where l.lender_id = ours.oid and l.borrower_id <> member.oid and pg_has_role(member.oid, l.borrower_id, 'member'))
  ),
  -- Login roles of the server: they may become what a request may be, nothing else, and own nothing.
  authenticators as (
    select m.member_id as oid
    from memberships m
    where m.rolcanlogin
      and not exists (select from pg_shdepend d where d.refclassid = 'pg_authid'::regclass and d.refobjid = m.member_id and d.deptype = 'o')
    group by m.member_id
    having bool_and(m.oid in (select oid from request_roles)) and bool_and(not pg_has_role(m.member_id, m.oid, 'usage'))
  ),
  found as (
    select
      r.kind, r.name as object, r.owner::text as who,
      case r.row_security
        when 'off' then 'row-level security is off'
        when 'on, not forced' then 'row-level security is not forced on the owner'
        else 'has no row-level security of its own'
      end as how,
      null as expected
    from audit.relations r
    where r.row_security <> 'forced' or r.kind in ('materialized view', 'foreign table')
    union all
    select 'owner',
      case r.owner when (select oid from main_owner) then 'tables' else string_agg(r.name, ', ' order by r.name) end, r.owner::text, 'may switch row-level security off and change policies',
      case when r.owner = (select oid from main_owner) and r.owner not in (select oid from request_roles union all select oid from authenticators)
        then 'Somebody has to own the tables; no request comes as the owner.' end
    from audit.relations r
    where r.kind <> 'view'
    group by r.owner
    union all
    select 'power', coalesce(powers, ''), rolname, 'passes by row-level security, or reads the files below it',
      case when rolsuper and not exists (
          select from request_roles q where pg_has_role(q.oid, roles.oid, 'member')
          union all select from authenticators a where pg_has_role(a.oid, roles.oid, 'member'))
        then 'A cluster has a superuser; no request can become it.' end
    from (
      select oid, rolname, rolsuper, concat_ws(', ',
        case when rolsuper then 'superuser' end,
        case when rolbypassrls and not rolsuper then 'bypassrls' end,
        case when rolreplication and not rolsuper then 'replication' end,
        (select string_agg(p.rolname, ', ' order by p.rolname) from pg_roles p
         where p.rolname in ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')
           and p.oid <> r.oid and not r.rolsuper and pg_has_role(r.oid, p.oid, 'member'))) as powers
      from pg_roles r
      where r.rolname !~ '^pg_'
    ) as roles
    where powers <> ''
    union all
    select 'set role', rolname, member,
      case when rolcanlogin then 'logs in and may become it' else 'may become it' end,
      case
        when member_id = (select oid from main_owner) then 'The owner works as graph_admin, and becomes a caller to see what that one sees.'
        when rolname = 'graph_auditor' then 'An auditor.'
        when member_id in (select oid from authenticators) then 'The server''s login role becomes what a token says, and is nothing by itself.'
      end
    from memberships
    union all
    select 'definer', f.name, coalesce(nullif(array_to_string(f.callers, ', '), ''), 'nobody'),
      format('runs with the rights of %s', f.owner), null
    from audit.functions f
    where f.definer
    union all
    select 'view', r.name,
      coalesce((select string_agg(m.role, ', ' order by m.role) from audit.roles m where has_any_column_privilege(m.role, r.relation, 'select')), 'nobody'),
      format('reads with the rights of %s', r.owner), null
    from audit.relations r
    join pg_class c on c.oid = r.relation
    where r.kind = 'view'
      and not coalesce((select option_value::boolean from pg_options_to_table(c.reloptions) where option_name = 'security_invoker'), false)
    union all
    select 'rule', format('%I on %s', w.rulename, r.name), r.owner::text, 'works with the rights of its table''s owner', null
    from pg_rewrite w
    join audit.relations r on r.relation = w.ev_class
    where w.ev_type <> '1'
    union all
    select 'privilege', r.name, case acl.grantee when 0 then 'public' else pg_get_userbyid(acl.grantee)::text end,
      format('may %s, which asks no policy', lower(acl.privilege_type)), null
    from audit.relations r
    join pg_class c on c.oid = r.relation,
    aclexplode(c.relacl) acl
    where acl.grantee <> c.relowner
      and acl.privilege_type not in ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
    union all
    select 'publication', r.name, p.pubname, 'sends every row to its subscribers', null
    from pg_publication_tables p
    join audit.relations r on r.name = format('%I.%I', p.schemaname, p.tablename)
    union all
    select 'leakproof', f.name, f.owner::text, 'may be asked about rows before their policies are', null
    from audit.functions f
    join pg_proc p on p.oid = f.function
    where p.proleakproof
    union all
    select 'parameter', parname, pg_get_userbyid(acl.grantee)::text, 'may switch triggers off for a session, and the history with them', null
    from pg_parameter_acl, aclexplode(paracl) acl
    where parname = 'session_replication_role' and acl.grantee <> 10
    union all
    select 'history', r.name, 'everybody', 'changes it without a trace', null
    from audit.relations r
    join pg_class c on c.oid = r.relation
    -- The history and the feed are records themselves.
    where r.kind in ('table', 'partition') and c.relnamespace <> 'audit'::regnamespace
      and coalesce(pg_partition_root(c.oid), c.oid) <> 'feed.changes'::regclass
      and exists (select from pg_attribute a where a.attrelid = r.relation and a.attname = 'organization_id' and not a.attisdropped)
      and (
        -- Inserts, deletes and updates. A partition has one trigger for all of them, which it loses when it is detached.
        select coalesce(bit_or(t.tgtype & 28), 0)
        from pg_trigger t join pg_proc p on p.oid = t.tgfoid
        where t.tgrelid = r.relation and t.tgenabled in ('O', 'A') and p.pronamespace = 'audit'::regnamespace
          and p.proname in ('record_rows', 'record_updates', 'record_row') and (c.relkind <> 'p' or t.tgtype & 1 = 1)
      ) < 28
    union all
    -- A column that came after its table began to be recorded.
    select distinct 'secret', format('%s.%I', r.name, a.attname), 'graph_auditor', 'reads its values in the history', null
    from pg_trigger t
    join pg_proc p on p.oid = t.tgfoid
    join audit.relations r on r.relation = t.tgrelid
    join pg_attribute a on a.attrelid = t.tgrelid and a.attnum > 0 and not a.attisdropped
    left join pg_trigger named on named.tgrelid = t.tgrelid and named.tgname = 'audit_columns'
    where p.pronamespace = 'audit'::regnamespace and p.proname in ('record_rows', 'record_updates', 'record_row') and r.kind <> 'partition'
      and a.attname ~ '(secret|password|passphrase|token|hash|cipher)'
      -- As audit.columns_of knows secrets.
      and substr(encode(t.tgargs, 'escape'), 1 + array_position(named.tgattr::int2[], a.attnum), 1) is distinct from 's'
  )
  select
    f.kind, f.object, f.who, f.how,
    coalesce(f.expected, a.reason) is not null as known,
    coalesce(f.expected, a.reason) as reason
  from found f
  -- What is accepted of one owner is accepted of each: the owner has another name in production than in development.
  left join lateral (
    select accepted.reason
    from audit.accepted
    where (accepted.kind, accepted.object) = (f.kind, f.object)
      and (accepted.who = f.who or f.kind in ('table', 'partition', 'materialized view', 'foreign table', 'rule', 'leakproof'))
    order by accepted.who <> f.who
    limit 1
  ) a on true;
comment on view audit.bypasses is 'Everything that escapes row-level security or the history, and why it may.';
comment on column audit.bypasses.known is 'Whether it is as this service needs it, or somebody has accepted it; everything else is a finding.';

grant select on audit.rights, audit.unaccepted_rights, audit.lent_roles, audit.matrix, audit.bypasses to graph_auditor, graph_admin;
