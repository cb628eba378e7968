--! Previous: -
--! Hash: sha1:0a02f9b1ef206823ae8dad3395a8087b710a541a
--! Message: roles and schemas

-- Roles, memberships and schemas: who may connect, and where things live.
--
-- Four NOLOGIN roles carry the rights of a request. The server's login role, the authenticator, may become each of them and has no right
-- of its own. AUTH_DATABASE_URL names it, and `npm run db:migrate` creates it.
--
--   graph_app    a token with scope `app`: everything in its own organization
--   graph_user   a token with scope `me`: the person's own rows
--   graph_basic  a token with scope `basic`: no row at all
--   graph_oauth  the OAuth server's own statements, inside one organization
--
-- No request reaches the other five.
--
--   graph_admin    sees and changes every row; the owner of the tables is a member, since row-level security is forced
--   graph_helper   owns the few functions that run with rights of their own, and has named policies for just what they read
--   graph_purger   owns the functions that delete what has expired; its policies say what that is
--   graph_auditor  reads rights, policies and the history; `grant graph_auditor to somebody` is all that it takes
--   graph_worker   sends webhooks for every organization; the server's login role may become it, and it is a member of no other role
--
-- Roles belong to the cluster and not to the database, so they may exist already. Then the owner needs no CREATEROLE.

do $$
declare
  role_name text;
begin
  foreach role_name in array array[
    'graph_admin', 'graph_helper', 'graph_purger', 'graph_app', 'graph_user', 'graph_basic', 'graph_oauth', 'graph_auditor', 'graph_worker'
  ] loop
    begin
      if not exists (select from pg_roles where rolname = role_name) then
        execute format('create role %I nologin', role_name);
      end if;
    exception
      when duplicate_object or unique_violation then null;
    end;
    if exists (select from pg_roles where rolname = role_name and (rolsuper or rolbypassrls or rolcanlogin)) then
      raise exception 'Role % exists but is a superuser, bypasses row-level security or can log in', role_name
        using hint = format('Run: alter role %I nosuperuser nobypassrls nologin', role_name);
    end if;
  end loop;
end
$$;

-- The owner works through the policies of graph_admin and hands functions over to graph_helper and graph_purger.
-- A membership that is there is not granted anew, which takes ADMIN OPTION.
do $$
declare
  role_name text;
  is_superuser boolean = (select rolsuper from pg_roles where rolname = current_user);
  becoming text = case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end;
begin
  foreach role_name in array array['graph_admin', 'graph_helper', 'graph_purger'] loop
    if is_superuser or not (pg_has_role(role_name, 'usage') and pg_has_role(role_name, becoming)) then
      execute format('grant %I to current_user', role_name);
    end if;
  end loop;
end
$$;

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

create schema app_public;
create schema app_hidden;
create schema oauth;
comment on schema app_public is 'What GraphQL shows.';
comment on schema app_hidden is 'Tables and helpers behind the policies; GraphQL shows none of them.';
comment on schema oauth is 'Applications, credentials, grants and tokens.';

grant usage on schema app_public, app_hidden to graph_app, graph_user, graph_basic, graph_oauth, graph_admin, graph_helper, graph_purger, graph_worker;
grant usage on schema oauth to graph_app, graph_oauth, graph_admin, graph_helper, graph_purger;

-- A new function is nobody's until it is granted. Only the global form (without `in schema`) takes the default away.
alter default privileges revoke execute on functions from public;
