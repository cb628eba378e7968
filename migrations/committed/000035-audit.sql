--! Previous: sha1:81091d14a150a8f74732346a8790ce817761097d
--! Hash: sha1:8773ad257d7104058d4f72dda6aad2d47a6d6c68
--! Message: audit

-- Who may do what, for database administrators: an answer is a select, and shows no secret.
--
-- The views read the catalogue, which everybody may read, and so need no rights of their own. graph_auditor reads them; no request does.

create schema audit;
comment on schema audit is 'Who may do what, and who did what. For graph_auditor; no request reads it.';
grant usage on schema audit to graph_auditor, graph_admin;
grant usage on schema audit to graph_helper;

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

-- Every role that has a privilege, or that a policy names; `public` is everybody.
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

-- What the server may become. A migration that adds a role adds it here, and then the findings, the prover and the rest know it.
create view audit.request_roles with (security_invoker = true) as
  select r.oid as role_id, known.role, known.kind
  from (
    values ('graph_app', 'token'), ('graph_user', 'token'), ('graph_basic', 'token'), ('graph_oauth', 'oauth'), ('graph_worker', 'worker')
  ) as known (role, kind)
  join pg_roles r on r.rolname = known.role;
comment on view audit.request_roles is 'The roles that the server may become; its login roles are members of these alone.';
comment on column audit.request_roles.kind is
  '`token`: that of a scope; `oauth`: the OAuth server at work for an organization; `worker`: work for every organization, as which no request comes.';

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

grant select on audit.relations, audit.policies, audit.roles, audit.request_roles, audit.functions to graph_auditor, graph_admin;
