--! Previous: sha1:cb53bd07d07fa2b900587a24507f28d486e26014
--! Hash: sha1:cd2bbef9e857589a657ebd32d6ad5d17c36371a6
--! Message: user not found by any plan

-- userUpdate and userDelete say NOT_FOUND whatever the plan. Inside the where clause lock_user was called only when the plan came to
-- it: an index scan that found no row of the organization never did, and the mutation answered with no user and no error.

create or replace function app_public.user_update(id uuid, external_identifier text, "values" jsonb) returns app_public.users
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    locked_id uuid = app_hidden.lock_user(user_update.id, user_update.external_identifier);
    updated app_public.users;
  begin
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
    where u.organization_id = (select app_hidden.current_organization_id()) and u.id = locked_id
    returning * into updated;
    return updated;
  end
  $$;

create or replace function app_public.user_delete(id uuid, external_identifier text) returns app_public.users
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    locked_id uuid = app_hidden.lock_user(user_delete.id, user_delete.external_identifier);
    deleted app_public.users;
  begin
    delete from app_public.users u
    where u.organization_id = (select app_hidden.current_organization_id()) and u.id = locked_id
    returning * into deleted;
    return deleted;
  end
  $$;
