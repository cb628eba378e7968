--! Previous: sha1:105dc8f329f1aca1af746c0d6e06eaba925b9bd3
--! Hash: sha1:93699ed434bd78aa73bdda28b19ce0c38c166284
--! Message: graph

-- The two points of view from which the graph is entered, and the mutations.
-- Lines with @ in a comment are smart tags: they shape the GraphQL schema (https://postgraphile.org/postgraphile/5/smart-tags).

drop function if exists app_hidden.count_row();
drop function if exists app_public.user_delete(uuid, text);
drop function if exists app_public.user_update(uuid, text, jsonb);
drop function if exists app_public.user_create(uuid, jsonb);
drop function if exists app_hidden.lock_user(uuid, text);
drop function if exists app_public.app_root_units(app_public.app);
drop function if exists app_public.app_users(app_public.app);
drop function if exists app_public.viewer_card_assignments(app_public.viewer);
drop function if exists app_public.viewer_accessible_units(app_public.viewer);
drop view if exists app_public.app;
drop view if exists app_public.viewer;

create view app_public.viewer with (security_invoker = true) as
  select organization_id, id, full_name, email, locale, time_zone, external_identifier
  from app_public.users
  where organization_id = (select app_hidden.current_organization_id()) and id = (select app_hidden.current_user_id());
comment on view app_public.viewer is E'@primaryKey id\n@behavior -type:node\nThe person that the token was issued for.';
comment on column app_public.viewer.full_name is E'@notNull\nFull name.';
comment on column app_public.viewer.email is E'@notNull\nE-mail address.';
comment on column app_public.viewer.locale is E'@notNull\nLocale: a BCP 47 language tag, such as `de` or `de-AT`.';
comment on column app_public.viewer.time_zone is E'@notNull\nTime zone: an IANA name, such as `Europe/Berlin`, or the city alone, as it was given.';
comment on column app_public.viewer.external_identifier is 'Identifier that the client system assigns to the user.';
grant select on app_public.viewer to graph_user;

create view app_public.app with (security_invoker = true) as
  select organization_id, id, name
  from oauth.applications
  where organization_id = (select app_hidden.current_organization_id()) and id = (select app_hidden.current_application_id());
comment on view app_public.app is E'@primaryKey id\n@behavior -type:node\nThe API application that the token was issued to, and all that it may read.';
comment on column app_public.app.name is E'@notNull\nName of the app.';
grant select on app_public.app to graph_app;

-- What hangs on them. A function `<type>_<field>(<type>)` becomes a field; each body is one plain select, which PostgreSQL
-- merges into the query around it. Whose rows they are is the policies' business.

create function app_public.viewer_accessible_units(viewer app_public.viewer) returns setof app_public.units
  language sql stable
  as $$ select * from app_public.units where organization_id = viewer.organization_id $$;
comment on function app_public.viewer_accessible_units(app_public.viewer) is 'Every unit that the person can access: those granted, and all below them.';
grant execute on function app_public.viewer_accessible_units(app_public.viewer) to graph_user;

create function app_public.viewer_card_assignments(viewer app_public.viewer) returns setof app_public.card_assignments
  language sql stable
  as $$ select * from app_public.card_assignments where organization_id = viewer.organization_id and user_id = viewer.id $$;
comment on function app_public.viewer_card_assignments(app_public.viewer) is E'@behavior -connection +list\n@listSuffix omit\n@notNull\nCards that are assigned to the person.';
grant execute on function app_public.viewer_card_assignments(app_public.viewer) to graph_user;

create function app_public.app_users(app app_public.app) returns setof app_public.users
  language sql stable
  as $$ select * from app_public.users where organization_id = app.organization_id $$;
comment on function app_public.app_users(app_public.app) is 'All users of the organization.';
grant execute on function app_public.app_users(app_public.app) to graph_app;

create function app_public.app_root_units(app app_public.app) returns setof app_public.units
  language sql stable
  as $$ select * from app_public.units where organization_id = app.organization_id and parent_id is null $$;
comment on function app_public.app_root_units(app_public.app) is 'Units at the top of the hierarchy.';
grant execute on function app_public.app_root_units(app_public.app) to graph_app;

-- Writing a user. Values come as jsonb, so that an absent key (leave it) and null (clear it) stay apart.
-- The external authentication token comes sealed, as hex: the database never sees it in clear.

create function app_public.user_create(id uuid, "values" jsonb) returns app_public.users
  language sql volatile
  as $$
    insert into app_public.users (
      organization_id, id, full_name, email, locale, time_zone, external_identifier,
      external_authentication_token_ciphertext, external_authentication_token_hash
    ) values (
      app_hidden.current_organization_id(),
      user_create.id,
      app_hidden.trimmed("values" ->> 'fullName'),
      app_hidden.trimmed("values" ->> 'email'),
      coalesce("values" ->> 'locale', 'en'),
      coalesce("values" ->> 'timeZone', 'UTC'),
      "values" ->> 'externalIdentifier',
      decode("values" ->> 'externalAuthenticationTokenCiphertext', 'hex'),
      decode("values" ->> 'externalAuthenticationTokenHash', 'hex')
    )
    returning *
  $$;
comment on function app_public.user_create(uuid, jsonb) is E'@behavior -mutationField -queryField\nAdds a user to the organization of the token.';

create function app_hidden.lock_user(id uuid, external_identifier text) returns uuid
  language plpgsql volatile
  as $$
  declare
    locked_id uuid;
  begin
    if lock_user.id is null then
      select u.id into locked_id
      from app_public.users u
      where u.organization_id = (select app_hidden.current_organization_id()) and u.external_identifier = lock_user.external_identifier
      for update;
    else
      select u.id into locked_id
      from app_public.users u
      where u.organization_id = (select app_hidden.current_organization_id()) and u.id = lock_user.id
        and (lock_user.external_identifier is null or u.external_identifier = lock_user.external_identifier)
      for update;
    end if;
    if locked_id is null then
      raise no_data_found using message = 'There is no such user';
    end if;
    return locked_id;
  end
  $$;
comment on function app_hidden.lock_user(uuid, text) is 'The id of the user with this id, external identifier, or both, locked until the transaction ends; no_data_found without one.';

create function app_public.user_update(id uuid, external_identifier text, "values" jsonb) returns app_public.users
  language sql volatile
  as $$
    update app_public.users u set
      full_name = case when "values" ? 'fullName' then app_hidden.trimmed("values" ->> 'fullName') else u.full_name end,
      email = case when "values" ? 'email' then app_hidden.trimmed("values" ->> 'email') else u.email end,
      locale = case when "values" ? 'locale' then "values" ->> 'locale' else u.locale end,
      time_zone = case when "values" ? 'timeZone' then "values" ->> 'timeZone' else u.time_zone end,
      external_identifier = case when "values" ? 'externalIdentifier' then "values" ->> 'externalIdentifier' else u.external_identifier end,
      external_authentication_token_ciphertext = case when "values" ? 'externalAuthenticationTokenCiphertext'
        then decode("values" ->> 'externalAuthenticationTokenCiphertext', 'hex') else u.external_authentication_token_ciphertext end,
      external_authentication_token_hash = case when "values" ? 'externalAuthenticationTokenHash'
        then decode("values" ->> 'externalAuthenticationTokenHash', 'hex') else u.external_authentication_token_hash end
    where u.organization_id = (select app_hidden.current_organization_id())
      and u.id = (select app_hidden.lock_user(user_update.id, user_update.external_identifier))
    returning *
  $$;
comment on function app_public.user_update(uuid, text, jsonb) is E'@behavior -mutationField -queryField\nChanges the user with this id, external identifier, or both.';

create function app_public.user_delete(id uuid, external_identifier text) returns app_public.users
  language sql volatile
  as $$
    delete from app_public.users u
    where u.organization_id = (select app_hidden.current_organization_id())
      and u.id = (select app_hidden.lock_user(user_delete.id, user_delete.external_identifier))
    returning *
  $$;
comment on function app_public.user_delete(uuid, text) is E'@behavior -mutationField -queryField\nDeletes the user with this id or external identifier; assignments, grants and tokens go with it.';

grant execute on function
  app_hidden.lock_user(uuid, text), app_public.user_create(uuid, jsonb), app_public.user_update(uuid, text, jsonb), app_public.user_delete(uuid, text)
  to graph_app;

-- A nested page is read for each row of the page around it, so that rows multiply. This ends a statement that finds too many.

create function app_hidden.count_row() returns int
  language plpgsql volatile
  as $$
  declare
    rows int = coalesce(nullif(current_setting('graph.rows', true), ''), '0')::int + 1;
  begin
    if rows > nullif(current_setting('graph.row_limit', true), '')::int then
      raise program_limit_exceeded using message = 'The operation found too many rows';
    end if;
    perform set_config('graph.rows', rows::text, true);
    return rows;
  end
  $$;
comment on function app_hidden.count_row() is 'Counts the rows of a transaction; program_limit_exceeded beyond the setting graph.row_limit.';
grant execute on function app_hidden.count_row() to graph_app, graph_user, graph_basic;
