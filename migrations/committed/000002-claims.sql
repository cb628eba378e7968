--! Previous: sha1:d0446bb3490c8d2b697964c1c2bbff96aaff1150
--! Hash: sha1:542fd4d369fe52940072064df5c5c1b4e7f50d07
--! Message: claims

-- What a request may do follows from its claims: settings that live as long as its transaction. A claim that is absent is ''.
--
-- Policies call one function for each claim as `(select app_hidden.current_organization_id())`: once per query, not once per row.
-- It returns null for '', and null equals nothing: no claim, no row.
--
-- Every function says where it finds what it names, so that nobody's search path can lead it elsewhere. PostgreSQL merges an SQL
-- function into the query around it only when it sets nothing. So those that are called for each statement or row are in PL/pgSQL,
-- which keeps its plans: a claim costs 5 µs, in SQL it would cost 75 (PostgreSQL 15).

create function app_hidden.current_organization_id() returns uuid
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$ begin return nullif(current_setting('graph.organization_id', true), ''); end $$;
comment on function app_hidden.current_organization_id() is 'The organization of the token that this transaction serves; null without one.';

create function app_hidden.current_application_id() returns uuid
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$ begin return nullif(current_setting('graph.application_id', true), ''); end $$;
comment on function app_hidden.current_application_id() is 'The application that the token was issued to; null without one.';

create function app_hidden.current_user_id() returns uuid
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$ begin return nullif(current_setting('graph.user_id', true), ''); end $$;
comment on function app_hidden.current_user_id() is 'The person that the token was issued for; null for an application''s own token.';

grant execute on function
  app_hidden.current_organization_id(), app_hidden.current_application_id(), app_hidden.current_user_id()
  to graph_app, graph_user, graph_basic, graph_oauth, graph_admin, graph_helper;
grant execute on function app_hidden.current_organization_id() to graph_worker;
