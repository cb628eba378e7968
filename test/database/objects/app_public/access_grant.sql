CREATE OR REPLACE FUNCTION app_public.access_grant(user_id uuid DEFAULT NULL::uuid, user_external_identifier text DEFAULT NULL::text, unit_id uuid DEFAULT NULL::uuid, unit_external_identifier text DEFAULT NULL::text)
 RETURNS app_public.access_grants
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    own constant uuid = app_hidden.current_organization_id();
    entrant_id uuid;
    opened_id uuid;
    granted app_public.access_grants;
  begin
    perform app_hidden.require_one('userId', user_id is not null, user_external_identifier is not null);
    perform app_hidden.require_one('unitId', unit_id is not null, unit_external_identifier is not null);
    -- So that neither is deleted meanwhile.
    perform app_hidden.lock_units(true);
    entrant_id = app_hidden.find_user(user_id, user_external_identifier);
    opened_id = app_hidden.find_unit(unit_id, unit_external_identifier);
    loop
      insert into app_hidden.unit_access (organization_id, user_id, unit_id) values (own, entrant_id, opened_id)
      on conflict on constraint unit_access_user_id_unit_id_source_key do nothing;
      select a.organization_id, a.id, a.user_id, a.unit_id, a.created_at into granted
      from app_hidden.unit_access a
      where a.organization_id = own and a.user_id = entrant_id and a.unit_id = opened_id and a.source is null;
      -- Revoked between the two statements, it is granted anew.
      if found then
        return granted;
      end if;
    end loop;
  end
  $function$;
comment on function app_public.access_grant(uuid,text,uuid,text) is '@mutation
@param {User} userId Who may enter.
@param userExternalIdentifier Who may enter, by the identifier that the client system assigned.
@param {Unit} unitId The unit, with all below it.
@param unitExternalIdentifier The unit, with all below it, by the identifier that the client system assigned.
Lets a user enter a unit and all below it; again, it is the same grant. Exactly one of each two arguments is given. Needs an app token (scope `app`).';
grant execute on function app_public.access_grant(uuid,text,uuid,text) to graph_app;
