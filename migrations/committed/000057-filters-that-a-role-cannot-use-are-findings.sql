--! Previous: sha1:74735e2b401e3505778a6589dab1a0f45e40b35e
--! Hash: sha1:4f579cf1848558d206168645c7348c85d69f55af
--! Message: filters that a role cannot use are findings

-- Enter migration here: docs/changing-the-schema.md. The present text of a policy is in test/database/policies.txt,
-- that of a function in the last file of migrations/committed that makes it (psql: \sf app_public.user_create).

-- The graph has one schema for all roles. What it offers of a table is to work for each role that may read the table, and a right to
-- columns may leave out the one that is compared.
create or replace view audit.column_lints with (security_invoker = true) as
  with columns as (
    select c.oid as relation_id, c.relkind, a.attname, a.attnum, format('%s.%I', c.oid::regclass, a.attname) as object
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'app_public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
      -- Clients never see it.
      and a.attname <> 'organization_id'
  ),
  -- Once for all columns.
  tags as materialized (
    select object, tag, value from audit.comment_lines where kind = 'column' and is_tag and tag in ('filter', 'behavior')
  ),
  offered as (
    select c.*, 'the filter ' || split_part(trim(t.value), ' ', 1) as what
    from columns c
    join tags t on t.object = c.object and t.tag = 'filter'
    union all
    select c.*, 'the filter externalIdentifiers' from columns c where c.attname = 'external_identifier'
    union all
    select c.*, 'an order'
    from columns c
    where (c.relkind in ('v', 'm') or exists (
        select from pg_index i
        join pg_class index on index.oid = i.indexrelid
        join pg_am on pg_am.oid = index.relam and pg_am.amname = 'btree'
        where i.indrelid = c.relation_id and i.indpred is null and c.attnum = any (i.indkey::int2[])))
      and not exists (
        select from tags t where t.object = c.object and t.tag = 'behavior' and t.value ~ '(^|\s)-(\*|(attribute:)?orderBy)(\s|$)')
  ),
  unreadable as (
    select o.object, o.relation_id, o.attname, string_agg(distinct o.what, ' and ') as what, string_agg(distinct r.rolname, ', ') as roles
    from offered o
    join pg_roles r on r.rolname in ('graph_app', 'graph_user', 'graph_basic')
    where has_any_column_privilege(r.oid, o.relation_id, 'select') and not has_column_privilege(r.oid, o.relation_id, o.attnum, 'select')
    group by o.object, o.relation_id, o.attname
  )
  select
    'column_not_readable' as name, 'error' as level, u.object,
    format('is what %s compares, and %s may not read it, though other columns of the table', u.what, u.roles) as detail,
    format('grant select (%I) on %s to %s', u.attname, u.relation_id::regclass, u.roles) collate "default" as remedy
  from unreadable u
  where not exists (select from audit.accepted a where a.kind = 'column_not_readable' and a.object = u.object);
comment on view audit.column_lints is 'Filters and orders that do not work for a role that may read their table; empty when all is well.';
grant select on audit.column_lints to graph_auditor, graph_admin;

create or replace view audit.findings with (security_invoker = true) as
  with memberships as (
    select
      member.oid, member.rolname, ours.rolname as request_role,
      exists (select from audit.accepted a where a.kind = 'authenticator_not_named' and a.object = member.rolname) as is_named
    from pg_roles member
    join pg_roles ours on ours.rolname in ('graph_app', 'graph_user', 'graph_basic', 'graph_oauth')
    where member.rolcanlogin and not member.rolsuper and pg_has_role(member.oid, ours.oid, 'member')
      -- A role that works as the owner is none of these.
      and not pg_has_role(member.oid, (select nspowner from pg_namespace where nspname = 'app_public'), 'member')
  ),
  authenticators as (
    select oid, rolname, bool_or(request_role = 'graph_oauth') as of_oauth, bool_or(request_role <> 'graph_oauth') as of_graph
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
  -- The other kinds are lints.
  select
    -- Without a trace is not beyond a right.
    'bypass_' || replace(kind, ' ', '_'), case kind when 'history' then 'warning' else 'error' end, object, format('%s %s', who, how),
    case kind when 'history' then 'select audit.record(…)' else 'Take the right away' end || '; or insert kind, object, who and the reason into audit.accepted.'
  from audit.bypasses
  where not known and kind not in ('table', 'partition', 'materialized view', 'foreign table', 'definer', 'view')
  union all
  select name, level, object, detail, remedy
  from found f
  where not exists (select from audit.accepted a where a.kind = f.name and a.object = f.object);
