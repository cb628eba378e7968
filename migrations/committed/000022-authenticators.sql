--! Previous: sha1:ce6ef22c902c5c3cd764ffcc394b0a7ddb404a5a
--! Hash: sha1:26904bb5c8c4ed2c55282ef2da79c4840e35a2ed
--! Message: authenticators

-- A client may choose its X-Request-Id, and so another one's: the server's own stands beside it in the history.
alter table audit.changes add column if not exists server_request_id text;
alter table audit.changes
  alter column server_request_id set default nullif(left(current_setting('graph.server_request_id', true), 200), '');
comment on column audit.changes.request_id is 'The X-Request-Id of the answer and of the log; the client may have chosen it.';
comment on column audit.changes.server_request_id is 'The same if the client sent none; else `serverRequestId` of the log''s line. No client can choose it.';

-- A login role of the server may change itself: its settings hold for every session, where a policy would not look for them. What it
-- did is a finding; so is one that may still become both the GraphQL and the OAuth server though another one is for one of them alone.
create or replace view audit.findings with (security_invoker = true) as
  with memberships as (
    select member.oid, member.rolname, ours.rolname as request_role
    from pg_roles member
    join pg_roles ours on ours.rolname in ('graph_app', 'graph_user', 'graph_basic', 'graph_oauth')
    where member.rolcanlogin and not member.rolsuper and pg_has_role(member.oid, ours.oid, 'member')
      -- A role that works as the owner is none of these.
      and not pg_has_role(member.oid, (select nspowner from pg_namespace where nspname = 'app_public'), 'member')
      -- `db:migrate` has made it one of this database.
      and has_schema_privilege(member.oid, to_regnamespace('graphile_migrate'), 'usage')
  ),
  authenticators as (
    select oid, rolname, bool_or(request_role = 'graph_oauth') as of_oauth, bool_or(request_role <> 'graph_oauth') as of_graph
    from memberships
    group by oid, rolname
  ),
  found (name, level, object, detail, remedy) as (
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
  select name, level, object, detail, remedy from audit.lints
  union all
  -- The other kinds are lints.
  select
    'bypass_' || replace(kind, ' ', '_'), 'error', object, format('%s %s', who, how),
    'Take the right away; or insert kind, object, who and the reason into audit.accepted.'
  from audit.bypasses
  where not known and kind not in ('table', 'partition', 'materialized view', 'foreign table', 'definer', 'view')
  union all
  select name, level, object, detail, remedy
  from found f
  where not exists (select from audit.accepted a where a.kind = f.name and a.object = f.object);
