--! Previous: sha1:ead25ebe6ce647773dc0c399d88b5d06dded1464
--! Hash: sha1:a2f783e68e327d92fd5d52b613fe3d0fe3f77870
--! Message: graph

-- The two points of view from which the graph is entered, and the mutations.
-- Lines with @ in a comment are smart tags: they shape the GraphQL schema (https://postgraphile.org/postgraphile/5/smart-tags).

drop function if exists app_public.user_delete(uuid, text);
drop function if exists app_public.user_update(uuid, text, jsonb);
drop function if exists app_public.user_create(uuid, jsonb);
drop function if exists app_hidden.lock_user(uuid, text);
drop function if exists app_public.app_root_units(app_public.app);
drop view if exists app_public.app;
drop view if exists app_public.viewer;

create view app_public.viewer with (security_invoker = true) as
  select organization_id, id, full_name, email, locale, time_zone, external_identifier
  from app_public.users
  where organization_id = (select app_hidden.current_organization_id()) and id = (select app_hidden.current_user_id());
comment on view app_public.viewer is E'@primaryKey id\n@unique organization_id\nThe person that the token was issued for.';
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
comment on view app_public.app is E'@primaryKey id\n@unique organization_id\nThe API application that the token was issued to, and all that it may read.';
comment on column app_public.app.name is E'@notNull\nName of the app.';
grant select on app_public.app to graph_app;

-- Units at the top of the hierarchy.

create function app_public.app_root_units(app app_public.app) returns setof app_public.units
  language sql stable
  as $$ select * from app_public.units where organization_id = app.organization_id and parent_id is null $$;
comment on function app_public.app_root_units(app_public.app) is E'@behavior +typeField +connection -list\nUnits at the top of the hierarchy.';
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
