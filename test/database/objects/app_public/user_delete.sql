CREATE OR REPLACE FUNCTION app_public.user_delete(id uuid DEFAULT NULL::uuid, external_identifier text DEFAULT NULL::text)
 RETURNS app_public.users
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
  $function$;
comment on function app_public.user_delete(uuid,text) is '@mutation
@param {User} id The user to delete.
@param externalIdentifier The user to delete, by the identifier that the client system assigned.
Deletes a user with all card assignments, grants and tokens. Exactly one of the arguments is given. Needs an app token (scope `app`).';
grant execute on function app_public.user_delete(uuid,text) to graph_app;
