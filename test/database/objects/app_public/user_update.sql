CREATE OR REPLACE FUNCTION app_public.user_update(id uuid DEFAULT NULL::uuid, external_identifier text DEFAULT NULL::text, full_name text DEFAULT NULL::text, email text DEFAULT NULL::text, locale text DEFAULT NULL::text, time_zone text DEFAULT NULL::text, timezone text DEFAULT NULL::text, external_authentication_token jsonb DEFAULT NULL::jsonb, given text[] DEFAULT '{}'::text[])
 RETURNS app_public.users
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
  $function$;
comment on function app_public.user_update(uuid,text,text,text,text,text,text,jsonb,text[]) is '@mutation
@param {Given} given
@param {User} id The user to change.
@param externalIdentifier With `id`, the new value (null clears it); without `id`, the user to change.
@param fullName Full name: 1 to 200 characters.
@param email E-mail address: unique in the organization, whatever its case.
@param locale BCP 47 language tag, such as `de` or `de-AT`.
@param timeZone IANA name, such as `Europe/Berlin`, or the city alone.
@param timezone Another spelling of `timeZone`. @deprecated Use timeZone.
@param {ExternalAuthenticationToken} externalAuthenticationToken Token used for external authentication: unique in the organization, 16 to 500 characters; null clears it.
Changes a user, found by `id`, or without it by `externalIdentifier`. An omitted argument leaves its value. Needs an app token (scope `app`).';
grant execute on function app_public.user_update(uuid,text,text,text,text,text,text,jsonb,text[]) to graph_app;
