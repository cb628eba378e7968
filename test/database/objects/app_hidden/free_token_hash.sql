CREATE OR REPLACE FUNCTION app_hidden.free_token_hash(user_id uuid, token jsonb)
 RETURNS bytea
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
  $function$;
comment on function app_hidden.free_token_hash(uuid,jsonb) is 'The hash of a token, which is refused when another user has it under the key before: the unique constraint compares hashes under one key.';
grant execute on function app_hidden.free_token_hash(uuid,jsonb) to graph_app;
