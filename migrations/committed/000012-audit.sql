--! Previous: sha1:7008739dc700f4b8cd299ce0a515231691a1b642
--! Hash: sha1:212ea5c7082406493f9e146063f42a986964728d
--! Message: audit

-- Who may do what, for database administrators: an answer is a select, and whoever looks sees no secret.
--
--   graph_auditor  reads policies, privileges and the history; `grant graph_auditor to somebody` is all that it takes
--
-- The views read the catalogue, which everybody may read, and so need no rights of their own.

drop schema if exists audit cascade;

do $$
begin
  begin
    create role graph_auditor nologin;
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
grant usage on schema audit to graph_auditor, graph_admin, graph_helper;

create view audit.bypasses with (security_invoker = true) as
  select
    'table' as kind,
    format('%s', c.oid::regclass) as object,
    null::text as who,
    case when c.relrowsecurity then 'row-level security is not forced on its owner' else 'row-level security is off' end as how,
    false as known
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p') and n.nspname in ('app_public', 'app_hidden', 'oauth', 'audit')
    and not (c.relrowsecurity and c.relforcerowsecurity);
comment on view audit.bypasses is 'What escapes row-level security, and whether it is meant to.';

create view audit.findings with (security_invoker = true) as
  select 'bypass_' || kind as name, 'error' as level, object, how as detail, 'Take the right away, or accept it in a migration.' as remedy
  from audit.bypasses
  where not known;
comment on view audit.findings is 'What should be looked at; empty when all is well.';

grant select on audit.bypasses, audit.findings to graph_auditor, graph_admin;
