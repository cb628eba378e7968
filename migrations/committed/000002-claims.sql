--! Previous: sha1:0a02f9b1ef206823ae8dad3395a8087b710a541a
--! Hash: sha1:47d9e3e1e3629594cad09bfa4498da0a92d2461d
--! Message: claims

-- Claims: what a request may do follows from settings that live as long as its transaction. A claim that is absent is ''.
--
-- Policies call one function for each claim as `(select app_hidden.current_organization_id())`: once per query, not once per row.
-- The function returns null for '', and null equals nothing: no claim, no row.
--
-- Every function pins its search path, so that nobody's search path can lead it elsewhere. PostgreSQL inlines an SQL function only
-- when it has no settings. So the functions that are called for each statement or row are in PL/pgSQL, which keeps its plans:
-- a claim costs 5 µs, in SQL it would cost 75 (PostgreSQL 15).

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
