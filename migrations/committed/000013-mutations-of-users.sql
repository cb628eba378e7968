--! Previous: sha1:548cc64d54a31717531b5b1b44f907da7ab2d3a5
--! Hash: sha1:38f619145b2880b670f07d43e72a5b74ea93fce7
--! Message: mutations of users

-- The mutations of users. Each function's parameters are the arguments of a mutation, and it runs with the rights of the caller.
--
-- The key of the external authentication token never reaches the database. So the service passes what it has sealed: the id of the user
-- to whom it is bound, ciphertext and hash, and the hash under the key before, while there is one.

create function app_hidden.lock_user(id uuid, external_identifier text) returns uuid
  language plpgsql volatile set search_path = pg_catalog, pg_temp
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
grant execute on function app_hidden.lock_user(uuid, text) to graph_app;

-- A row that is locked so stays until the transaction ends, and can be referred to.

create function app_hidden.find_user(id uuid, external_identifier text) returns uuid
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    own constant uuid = app_hidden.current_organization_id();
    found_id uuid;
  begin
    if find_user.id is null then
      select u.id into found_id from app_public.users u
      where u.organization_id = own and u.external_identifier = find_user.external_identifier for key share;
    else
      select u.id into found_id from app_public.users u where u.organization_id = own and u.id = find_user.id for key share;
    end if;
    if found_id is null then
      raise no_data_found using message = 'There is no such user';
    end if;
    return found_id;
  end
  $$;
comment on function app_hidden.find_user(uuid, text) is 'The id of the user with this id or external identifier, who stays until the transaction ends; no_data_found without one.';
grant execute on function app_hidden.find_user(uuid, text) to graph_app;

create function app_hidden.one_time_zone(time_zone text, timezone text) returns text
  language plpgsql immutable set search_path = pg_catalog, pg_temp
  as $$
  begin
    if one_time_zone.time_zone <> one_time_zone.timezone then
      raise invalid_parameter_value using message = 'timezone is another spelling of timeZone; the two differ.', column = 'timezone';
    end if;
    return coalesce(one_time_zone.time_zone, one_time_zone.timezone);
  end
  $$;
comment on function app_hidden.one_time_zone(text, text) is 'The time zone, from the two spellings of its argument; with different values it is refused.';

create function app_hidden.free_token_hash(user_id uuid, token jsonb) returns bytea
  language plpgsql stable set search_path = pg_catalog, pg_temp
  as $$
  begin
    if token is null then
      return null;
    end if;
    if exists (
      select from app_public.users u
      where u.organization_id = app_hidden.current_organization_id()
        and u.external_authentication_token_hash = decode(token ->> 'previousHash', 'hex')
        and u.id <> free_token_hash.user_id
    ) then
      raise unique_violation using schema = 'app_public', table = 'users', constraint = 'users_external_authentication_token_hash_key';
    end if;
    return decode(token ->> 'hash', 'hex');
  end
  $$;
comment on function app_hidden.free_token_hash(uuid, jsonb) is 'The hash of a token, which is refused when another user has it under the key before: the unique constraint compares hashes under one key.';
grant execute on function app_hidden.one_time_zone(text, text), app_hidden.free_token_hash(uuid, jsonb) to graph_app;

create function app_public.user_create(
  full_name text, email text, locale text default null, time_zone text default null, timezone text default null,
  external_identifier text default null, external_authentication_token jsonb default null
) returns app_public.users
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    created app_public.users;
  begin
    perform app_hidden.lock_organization(shared => true);
    if user_create.external_identifier is not null then
      perform app_hidden.lock_value('users_external_identifier_key', user_create.external_identifier);
    end if;
    if external_authentication_token is not null then
      perform app_hidden.lock_value('users_external_authentication_token_hash_key', external_authentication_token ->> 'hash');
    end if;
    insert into app_public.users (
      organization_id, id, full_name, email, locale, time_zone, external_identifier,
      external_authentication_token_ciphertext, external_authentication_token_hash
    ) values (
      app_hidden.current_organization_id(),
      coalesce((external_authentication_token ->> 'userId')::uuid, app_hidden.uuid_v7()),
      app_hidden.trimmed(user_create.full_name),
      app_hidden.trimmed(user_create.email),
      coalesce(user_create.locale, 'en'),
      coalesce(app_hidden.one_time_zone(user_create.time_zone, user_create.timezone), 'UTC'),
      user_create.external_identifier,
      decode(external_authentication_token ->> 'ciphertext', 'hex'),
      app_hidden.free_token_hash((external_authentication_token ->> 'userId')::uuid, external_authentication_token)
    )
    returning * into created;
    return created;
  end
  $$;
comment on function app_public.user_create(text, text, text, text, text, text, jsonb) is
  E'@mutation\n'
  '@param fullName Full name: 1 to 200 characters.\n'
  '@param email E-mail address: unique in the organization, whatever its case.\n'
  '@param locale BCP 47 language tag, such as `de` or `de-AT`; `en` by default.\n'
  '@param timeZone IANA name, such as `Europe/Berlin`, or the city alone; `UTC` by default.\n'
  '@param timezone Another spelling of `timeZone`. @deprecated Use timeZone.\n'
  '@param externalIdentifier Identifier that the client system assigns: unique in the organization, 1 to 200 characters, compared exactly.\n'
  '@param {ExternalAuthenticationToken} externalAuthenticationToken Token used for external authentication: unique in the organization, 16 to 500 characters.\n'
  'Adds a user to the organization. Needs an app token (scope `app`).';

create function app_public.user_update(
  id uuid default null, external_identifier text default null, full_name text default null, email text default null, locale text default null,
  time_zone text default null, timezone text default null, external_authentication_token jsonb default null, given text[] default '{}'
) returns app_public.users
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    renames constant boolean = user_update.id is not null and 'externalIdentifier' = any (given);
    has_token constant boolean = 'externalAuthenticationToken' = any (given);
    has_unique constant boolean = renames or has_token or 'email' = any (given);
    locked_id uuid;
    updated app_public.users;
  begin
    perform app_hidden.require_values(
      given, '{fullName,email,locale,timeZone,timezone}',
      array[user_update.full_name, user_update.email, user_update.locale, user_update.time_zone, user_update.timezone]);
    if user_update.id is null then
      perform app_hidden.require_one('id', false, user_update.external_identifier is not null);
    end if;
    if has_unique then
      perform app_hidden.lock_organization(shared => true);
    end if;
    locked_id = app_hidden.lock_user(user_update.id, case when user_update.id is null then user_update.external_identifier end);
    if has_unique then
      select * into updated from app_public.users u where u.organization_id = (select app_hidden.current_organization_id()) and u.id = locked_id;
      if renames then
        perform app_hidden.lock_value('users_external_identifier_key', user_update.external_identifier, updated.external_identifier);
      end if;
      if 'email' = any (given) then
        perform app_hidden.lock_value(
          'users_email_key', app_hidden.lowercase(app_hidden.trimmed(user_update.email)), updated.email_lowercase);
      end if;
      if has_token then
        perform app_hidden.lock_value(
          'users_external_authentication_token_hash_key', external_authentication_token ->> 'hash',
          encode(updated.external_authentication_token_hash, 'hex'));
      end if;
    end if;
    -- It was sealed for the user who had the external identifier a moment ago.
    if (external_authentication_token ->> 'userId')::uuid <> locked_id then
      raise no_data_found using message = 'There is no such user';
    end if;
    update app_public.users u set
      full_name = coalesce(app_hidden.trimmed(user_update.full_name), u.full_name),
      email = coalesce(app_hidden.trimmed(user_update.email), u.email),
      locale = coalesce(user_update.locale, u.locale),
      time_zone = coalesce(app_hidden.one_time_zone(user_update.time_zone, user_update.timezone), u.time_zone),
      external_identifier = case when renames then user_update.external_identifier else u.external_identifier end,
      external_authentication_token_ciphertext = case when has_token
        then decode(external_authentication_token ->> 'ciphertext', 'hex') else u.external_authentication_token_ciphertext end,
      external_authentication_token_hash = case when has_token
        then app_hidden.free_token_hash(locked_id, external_authentication_token) else u.external_authentication_token_hash end
    where u.organization_id = (select app_hidden.current_organization_id()) and u.id = locked_id
    returning * into updated;
    return updated;
  end
  $$;
comment on function app_public.user_update(uuid, text, text, text, text, text, text, jsonb, text[]) is
  E'@mutation\n@param {Given} given\n'
  '@param {User} id The user to change.\n'
  '@param externalIdentifier With `id`, the new value (null clears it); without `id`, the user to change.\n'
  '@param fullName Full name: 1 to 200 characters.\n'
  '@param email E-mail address: unique in the organization, whatever its case.\n'
  '@param locale BCP 47 language tag, such as `de` or `de-AT`.\n'
  '@param timeZone IANA name, such as `Europe/Berlin`, or the city alone.\n'
  '@param timezone Another spelling of `timeZone`. @deprecated Use timeZone.\n'
  '@param {ExternalAuthenticationToken} externalAuthenticationToken Token used for external authentication: unique in the organization, 16 to 500 characters; null clears it.\n'
  'Changes a user, found by `id`, or without it by `externalIdentifier`. An omitted argument leaves its value. Needs an app token (scope `app`).';

create function app_public.user_delete(id uuid default null, external_identifier text default null) returns app_public.users
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    locked_id uuid;
    deleted app_public.users;
  begin
    perform app_hidden.require_one('id', user_delete.id is not null, user_delete.external_identifier is not null);
    -- Deleting a unit deletes grants, too, and takes this lock exclusively.
    perform app_hidden.lock_units(true);
    locked_id = app_hidden.lock_user(user_delete.id, user_delete.external_identifier);
    delete from app_public.users u
    where u.organization_id = (select app_hidden.current_organization_id()) and u.id = locked_id
    returning * into deleted;
    return deleted;
  end
  $$;
comment on function app_public.user_delete(uuid, text) is
  E'@mutation\n'
  '@param {User} id The user to delete.\n'
  '@param externalIdentifier The user to delete, by the identifier that the client system assigned.\n'
  'Deletes a user with all card assignments, grants and tokens. Exactly one of the arguments is given. Needs an app token (scope `app`).';

-- Many users at once: all who leave on one day are one request.

create type app_public.delete_outcome as enum ('DELETED', 'NOT_FOUND');
comment on type app_public.delete_outcome is E'@value DELETED It was deleted.\n@value NOT_FOUND There was none.\nWhat came of an object that was to be deleted.';

create type app_public.user_delete_result as (id uuid, external_identifier text, outcome app_public.delete_outcome);
comment on type app_public.user_delete_result is 'What came of one user of `usersDelete`.';
comment on column app_public.user_delete_result.id is E'@type {User}\nThe id that was given; null when users were given by external identifier.';
comment on column app_public.user_delete_result.external_identifier is 'The external identifier that was given; null when users were given by id.';
comment on column app_public.user_delete_result.outcome is E'@notNull\nWhat came of it.';

create function app_public.users_delete(ids uuid[] default null, external_identifiers text[] default null)
  returns setof app_public.user_delete_result
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    own constant uuid = app_hidden.current_organization_id();
    deleted_ids uuid[];
    deleted_identifiers text[];
  begin
    perform app_hidden.require_one('ids', ids is not null, external_identifiers is not null);
    if cardinality(coalesce(ids::text[], external_identifiers)) = 0 then
      raise invalid_parameter_value using
        message = 'Give 1 to 1,000 users', column = case when ids is null then 'externalIdentifiers' else 'ids' end;
    end if;
    perform app_hidden.lock_units();
    if ids is not null then
      with deleted as (
        delete from app_public.users u where u.organization_id = own and u.id = any (users_delete.ids) returning u.id
      )
      select array_agg(d.id) into deleted_ids from deleted d;
    else
      with deleted as (
        delete from app_public.users u where u.organization_id = own and u.external_identifier = any (users_delete.external_identifiers)
        returning u.external_identifier
      )
      select array_agg(d.external_identifier) into deleted_identifiers from deleted d;
    end if;

    return query
      select
        g.id, g.external_identifier,
        case
          when g.number > 1 then 'NOT_FOUND'
          when g.id = any (deleted_ids) or g.external_identifier = any (deleted_identifiers) then 'DELETED'
          else 'NOT_FOUND'
        end::app_public.delete_outcome
      from (
        select r.*, row_number() over (partition by r.id, r.external_identifier collate "C" order by r.place) as number
        from unnest(users_delete.ids, users_delete.external_identifiers) with ordinality as r (id, external_identifier, place)
      ) as g
      order by g.place;
  end
  $$;
comment on function app_public.users_delete(uuid[], text[]) is
  E'@mutation\n@payloadField results\n'
  '@param {User} ids The users to delete: 1 to 1,000.\n'
  '@param externalIdentifiers The users to delete, by the identifiers that the client system assigned: 1 to 1,000.\n'
  'Deletes users with all card assignments, grants and tokens, in one transaction. Exactly one of the arguments is given. The results are in the order of what was given; what is given twice is found once. Needs an app token (scope `app`).';

grant execute on function
  app_public.users_delete(uuid[], text[]), app_public.user_create(text, text, text, text, text, text, jsonb),
  app_public.user_update(uuid, text, text, text, text, text, text, jsonb, text[]), app_public.user_delete(uuid, text)
  to graph_app;
