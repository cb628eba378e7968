--! Previous: sha1:7008739dc700f4b8cd299ce0a515231691a1b642
--! Hash: sha1:c1993d48a19c67b88747ce7801060387fb437c67
--! Message: audit
--! AllowInvalidHash

-- Who may do what, for database administrators: an answer is a select, and whoever looks sees no secret.
--
--   graph_auditor  reads rights, policies and the history; `grant graph_auditor to somebody` is all that it takes
--
-- The views read the catalogue, which everybody may read, and so need no rights of their own.

drop schema if exists audit cascade;

do $$
begin
  begin
    -- Changed after the commit, as the grant below: a role that exists takes no CREATEROLE, a membership that exists no ADMIN OPTION.
    if not exists (select from pg_roles where rolname = 'graph_auditor') then
      create role graph_auditor nologin;
    end if;
  exception
    when duplicate_object or unique_violation then null;
  end;
  if exists (select from pg_roles where rolname = 'graph_auditor' and (rolsuper or rolbypassrls or rolcanlogin)) then
    raise exception 'Role graph_auditor exists but is a superuser, bypasses row-level security or can log in'
      using hint = 'Run: alter role graph_auditor nosuperuser nobypassrls nologin';
  end if;
end
$$;

create schema audit;
comment on schema audit is 'Who may do what, and who did what. For graph_auditor; no request reads it.';
grant usage on schema audit to graph_auditor, graph_admin;

-- To see what a caller sees, the owner becomes the caller. PostgreSQL 15 has no words for a membership that is not inherited;
-- there the owner inherits what it has already as graph_admin.
do $$
declare
  role_name text;
  is_superuser boolean = (select rolsuper from pg_roles where rolname = current_user);
  has_words boolean = current_setting('server_version_num')::int >= 160000;
begin
  foreach role_name in array array['graph_app', 'graph_user', 'graph_basic', 'graph_oauth'] loop
    if is_superuser or not pg_has_role(role_name, case when has_words then 'set' else 'member' end) then
      execute format('grant %I to current_user ', role_name) || case when has_words then 'with inherit false, set true' else '' end;
    end if;
  end loop;
end
$$;

create view audit.relations with (security_invoker = true) as
  select
    c.oid::regclass as relation,
    case
      when c.relispartition then 'partition'
      else case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'f' then 'foreign table' else 'table' end
    end as kind,
    c.relowner::regrole as owner,
    case
      when c.relkind not in ('r', 'p') then null
      when not c.relrowsecurity then 'off'
      when c.relforcerowsecurity then 'forced'
      else 'on, not forced'
    end as row_security,
    obj_description(c.oid, 'pg_class') as comment,
    -- Whatever the search path is.
    format('%I.%I', n.nspname, c.relname) as name
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname !~ '^(pg_|information_schema$|graphile_)';
comment on view audit.relations is 'Tables and views of this database that are not PostgreSQL''s own or those of graphile-migrate.';

create view audit.policies with (security_invoker = true) as
  select
    p.polrelid::regclass as relation,
    p.polname as policy,
    case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end as command,
    p.polpermissive as permissive,
    -- 0 stands for everybody.
    p.polroles as role_ids,
    array(select case role when 0 then 'public' else pg_get_userbyid(role)::text end from unnest(p.polroles) as role order by 1) as roles,
    obj_description(p.oid, 'pg_policy') as rule,
    pg_get_expr(p.polqual, p.polrelid) as using_expression,
    pg_get_expr(p.polwithcheck, p.polrelid) as check_expression
  from pg_policy p;
comment on view audit.policies is 'Every policy, its rule in plain English and its expressions.';

-- Whoever has been granted something, or is named by a policy; `public` is everybody.
create view audit.roles with (security_invoker = true) as
  select distinct role as role_id, case role when 0 then 'public' else pg_get_userbyid(role)::text end as role
  from (
    select acl.grantee as role, c.relowner as owner
    from pg_class c, aclexplode(c.relacl) acl where c.oid in (select relation from audit.relations)
    union all
    select acl.grantee, c.relowner
    from pg_attribute a join pg_class c on c.oid = a.attrelid, aclexplode(a.attacl) acl where c.oid in (select relation from audit.relations)
    union all
    select unnest(role_ids), null from audit.policies
  ) as granted
  where role is distinct from owner;
comment on view audit.roles is 'Roles that have been granted something, or that a policy names.';

create view audit.matrix with (security_invoker = true) as
  with effective as (
    select
      r.relation, r.kind, r.row_security, roles.role_id, roles.role, command,
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
    p.rules
  from effective e
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
comment on column audit.matrix.row_security is '`forced` on the owner, too; `off` means that policies decide nothing. Null for views, which ask the policies of their tables.';
comment on column audit.matrix.rules is 'The policies in plain English, in the order of their names. Without one the command finds no row.';

create view audit.functions with (security_invoker = true) as
  select
    -- No regprocedure: pg_upgrade and linters mind a column of that type; the name is below.
    p.oid as function,
    p.proowner::regrole as owner,
    p.prosecdef as definer,
    p.proconfig as settings,
    array(
      select case acl.grantee when 0 then 'public' else pg_get_userbyid(acl.grantee)::text end
      from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) acl
      where acl.grantee <> p.proowner
      order by 1
    ) as callers,
    array(select t.tgrelid::regclass::text from pg_trigger t where t.tgfoid = p.oid order by 1) as trigger_tables,
    obj_description(p.oid, 'pg_proc') as comment,
    format('%I.%I(%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes)) as name
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
  where n.nspname !~ '^(pg_|information_schema$|graphile_)';
comment on view audit.functions is 'Every function: with whose rights it runs, and who may call it.';

-- What was looked at and is meant to be so. An administrator adds to it; a reason is a sentence that the next one understands.
create table audit.accepted (
  kind text not null,
  object text not null,
  who text not null,
  reason text not null,
  constraint accepted_pkey primary key (kind, object, who),
  constraint accepted_length check (char_length(kind) <= 200 and char_length(object) <= 2000 and char_length(who) <= 2000),
  constraint accepted_reason_text check (char_length(reason) between 1 and 2000)
);
-- Absent on purpose: an organization. What escapes row-level security escapes it for all of them.
comment on table audit.accepted is 'Rows of audit.bypasses that are meant to be so, each with its reason.';
alter table audit.accepted enable row level security, force row level security;
create policy all_graph_admin on audit.accepted for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on audit.accepted is 'Administration accepts a bypass, and takes that back.';
create policy select_graph_auditor on audit.accepted for select to graph_auditor using (true);
comment on policy select_graph_auditor on audit.accepted is 'An auditor reads what was accepted, and why.';
grant select, insert, update, delete on audit.accepted to graph_admin;
grant select on audit.accepted to graph_auditor;

create view audit.bypasses with (security_invoker = true) as
  with main_owner as (
    select nspowner as oid from pg_namespace where nspname = 'app_public'
  ),
  request_roles as (
    select oid from pg_roles where rolname in ('graph_app', 'graph_user', 'graph_basic', 'graph_oauth')
  ),
  -- Every role but superusers that may become one of ours, at once or by granting it to itself.
  memberships as (
    select member.oid as member_id, member.rolname as member, ours.oid, ours.rolname, member.rolcanlogin
    from pg_roles member
    join pg_roles ours on ours.rolname like 'graph\_%' and not ours.rolcanlogin and ours.oid <> member.oid
    where not member.rolsuper and pg_has_role(member.oid, ours.oid, 'member')
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
    where r.kind in ('table', 'partition') and c.relnamespace <> 'audit'::regnamespace
      and exists (select from pg_attribute a where a.attrelid = r.relation and a.attname = 'organization_id' and not a.attisdropped)
      and (
        select count(distinct t.tgtype & 28)
        from pg_trigger t join pg_proc p on p.oid = t.tgfoid
        where t.tgrelid = r.relation and t.tgenabled in ('O', 'A') and p.pronamespace = 'audit'::regnamespace
          and p.proname in ('record_rows', 'record_update')
      ) < 3
    union all
    -- A column that came after its table began to be recorded.
    select distinct 'secret', format('%s.%I', r.name, a.attname), 'graph_auditor', 'reads its values in the history', null
    from pg_trigger t
    join pg_proc p on p.oid = t.tgfoid
    join audit.relations r on r.relation = t.tgrelid
    join pg_attribute a on a.attrelid = t.tgrelid and a.attnum > 0 and not a.attisdropped
    where p.pronamespace = 'audit'::regnamespace and p.proname in ('record_rows', 'record_update')
      and a.attname ~ '(secret|password|passphrase|token|hash|cipher)'
      -- Its third argument; each ends in a zero byte.
      and a.attname <> all (split_part(encode(t.tgargs, 'escape'), '\000', 3)::text[])
  )
  select
    f.kind, f.object, f.who, f.how,
    coalesce(f.expected, a.reason) is not null as known,
    coalesce(f.expected, a.reason) as reason
  from found f
  left join audit.accepted a using (kind, object, who);
comment on view audit.bypasses is 'Everything that escapes row-level security or the history, and why it may.';
comment on column audit.bypasses.known is 'Whether it is as this service needs it, or somebody has accepted it; everything else is a finding.';

create view audit.findings with (security_invoker = true) as
  select
    'bypass_' || replace(kind, ' ', '_') as name,
    'error' as level,
    object,
    format('%s %s', who, how) as detail,
    'Take the right away; or insert kind, object, who and the reason into audit.accepted.' as remedy
  from audit.bypasses
  where not known;
comment on view audit.findings is 'What should be looked at; empty when all is well.';

grant select on audit.relations, audit.policies, audit.roles, audit.matrix, audit.functions, audit.bypasses, audit.findings to graph_auditor, graph_admin;

insert into audit.accepted (kind, object, who, reason) values
  ('definer', 'oauth.find_application(text)', 'graph_oauth', 'Finds out whose a client id is; until then there is no organization that a policy could ask for.'),
  ('definer', 'oauth.verify_access_token(bytea)', 'graph_oauth', 'Finds out whose a token is; until then there is no organization that a policy could ask for.'),
  ('definer', 'oauth.purge(integer)', 'graph_admin, graph_oauth', 'Deletes what has expired in every organization; policies on graph_helper bound it to that.'),
  ('history', 'app_hidden.unit_ancestors', 'everybody', 'Follows from app_public.units, whose changes are recorded.'),
  ('history', 'oauth.access_tokens', 'everybody', 'Lives for two hours. Its grant is recorded, from its first to its last moment.'),
  ('history', 'oauth.refresh_tokens', 'everybody', 'One replaces the other. Their grant is recorded, from its first to its last moment.'),
  ('history', 'oauth.authorization_codes', 'everybody', 'Lives for a minute. The grant that it buys is recorded.'),
  ('history', 'oauth.sessions', 'everybody', 'Lives for a browser''s visit. The grants that a person gives in it are recorded.'),
  ('history', 'oauth.consents', 'everybody', 'A question that waits for its answer. The grant that follows from a yes is recorded.');
