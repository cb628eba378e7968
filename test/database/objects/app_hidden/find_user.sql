CREATE OR REPLACE FUNCTION app_hidden.find_user(id uuid, external_identifier text)
 RETURNS uuid
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
  $function$;
comment on function app_hidden.find_user(uuid,text) is 'The id of the user with this id or external identifier, who stays until the transaction ends; no_data_found without one.';
grant execute on function app_hidden.find_user(uuid,text) to graph_app;
