CREATE OR REPLACE FUNCTION app_public.access_revoke(id uuid DEFAULT NULL::uuid, user_id uuid DEFAULT NULL::uuid, user_external_identifier text DEFAULT NULL::text, unit_id uuid DEFAULT NULL::uuid, unit_external_identifier text DEFAULT NULL::text, source text DEFAULT NULL::text)
 RETURNS app_public.access_grants
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    own constant uuid = app_hidden.current_organization_id();
    is_by_both constant boolean = num_nonnulls(user_id, user_external_identifier, unit_id, unit_external_identifier, access_revoke.source) > 0;
    entrant_id uuid;
    closed_id uuid;
    revoked app_public.access_grants;
  begin
    if is_by_both = (access_revoke.id is not null) then
      raise invalid_parameter_value using message = 'Give either id, or the user and the unit.', column = 'id';
    end if;
    if is_by_both then
      perform app_hidden.require_one('userId', user_id is not null, user_external_identifier is not null);
      perform app_hidden.require_one('unitId', unit_id is not null, unit_external_identifier is not null);
      perform app_hidden.lock_organization(shared => true);
      entrant_id = app_hidden.find_user(user_id, user_external_identifier);
      closed_id = app_hidden.find_unit(unit_id, unit_external_identifier);
    end if;
    delete from app_hidden.unit_access a
    where a.organization_id = own
      and (a.id = access_revoke.id or a.user_id = entrant_id and a.unit_id = closed_id and a.source is not distinct from access_revoke.source)
    returning a.organization_id, a.id, a.user_id, a.unit_id, a.source, a.valid_from, a.valid_until, a.created_at into revoked;
    if not found then
      raise no_data_found using message = 'There is no such grant';
    end if;
    return revoked;
  end
  $function$;
comment on function app_public.access_revoke(uuid,uuid,text,uuid,text,text) is '@mutation
@param {AccessGrant} id The grant that ends.
@param {User} userId Who may no longer enter.
@param userExternalIdentifier Who may no longer enter, by the identifier that the client system assigned.
@param {Unit} unitId The unit.
@param unitExternalIdentifier The unit, by the identifier that the client system assigned.
@param source The system that gave it; without one, the grant that was given by hand ends.
Revokes a grant; those on other units and of other sources stay. Given is `id`, or exactly one argument for the user and one for the unit. Needs an app token (scope `app`).';
grant execute on function app_public.access_revoke(uuid,uuid,text,uuid,text,text) to graph_app;
