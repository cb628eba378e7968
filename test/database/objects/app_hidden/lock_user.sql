CREATE OR REPLACE FUNCTION app_hidden.lock_user(id uuid, external_identifier text)
 RETURNS uuid
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
  $function$;
comment on function app_hidden.lock_user(uuid,text) is 'The id of the user with this id, external identifier, or both, locked until the transaction ends; no_data_found without one.';
grant execute on function app_hidden.lock_user(uuid,text) to graph_app;
