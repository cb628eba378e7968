CREATE OR REPLACE FUNCTION app_public.user_create(full_name text, email text, locale text DEFAULT NULL::text, time_zone text DEFAULT NULL::text, timezone text DEFAULT NULL::text, external_identifier text DEFAULT NULL::text, external_authentication_token jsonb DEFAULT NULL::jsonb)
 RETURNS app_public.users
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
  $function$;
comment on function app_public.user_create(text,text,text,text,text,text,jsonb) is '@mutation
@param fullName Full name: 1 to 200 characters.
@param email E-mail address: unique in the organization, whatever its case.
@param locale BCP 47 language tag, such as `de` or `de-AT`; `en` by default.
@param timeZone IANA name, such as `Europe/Berlin`, or the city alone; `UTC` by default.
@param timezone Another spelling of `timeZone`. @deprecated Use timeZone.
@param externalIdentifier Identifier that the client system assigns: unique in the organization, 1 to 200 characters, compared exactly.
@param {ExternalAuthenticationToken} externalAuthenticationToken Token used for external authentication: unique in the organization, 16 to 500 characters.
Adds a user to the organization. Needs an app token (scope `app`).';
grant execute on function app_public.user_create(text,text,text,text,text,text,jsonb) to graph_app;
