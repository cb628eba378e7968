CREATE OR REPLACE FUNCTION app_public.access_grant(user_id uuid DEFAULT NULL::uuid, user_external_identifier text DEFAULT NULL::text, unit_id uuid DEFAULT NULL::uuid, unit_external_identifier text DEFAULT NULL::text, valid_from timestamp with time zone DEFAULT NULL::timestamp with time zone, valid_until timestamp with time zone DEFAULT NULL::timestamp with time zone, source text DEFAULT NULL::text, given text[] DEFAULT '{}'::text[])
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
      insert into app_hidden.unit_access as a (organization_id, user_id, unit_id, source, valid_from, valid_until)
      values (own, entrant_id, opened_id, access_grant.source, access_grant.valid_from, access_grant.valid_until)
      on conflict on constraint unit_access_user_id_unit_id_source_key do nothing
      returning a.organization_id, a.id, a.user_id, a.unit_id, a.source, a.valid_from, a.valid_until, a.created_at into granted;
      if found then
        return granted;
      end if;
      if given && '{validFrom,validUntil}' then
        update app_hidden.unit_access a set
          valid_from = case when 'validFrom' = any (given) then access_grant.valid_from else a.valid_from end,
          valid_until = case when 'validUntil' = any (given) then access_grant.valid_until else a.valid_until end
        where a.organization_id = own and a.user_id = entrant_id and a.unit_id = opened_id and a.source is not distinct from access_grant.source
          -- A grant that has these times already is left alone.
          and (
            'validFrom' = any (given) and a.valid_from is distinct from access_grant.valid_from
            or 'validUntil' = any (given) and a.valid_until is distinct from access_grant.valid_until);
      end if;
      select a.organization_id, a.id, a.user_id, a.unit_id, a.source, a.valid_from, a.valid_until, a.created_at into granted
      from app_hidden.unit_access a
      where a.organization_id = own and a.user_id = entrant_id and a.unit_id = opened_id and a.source is not distinct from access_grant.source;
      -- Revoked between the statements, it is granted anew.
      if found then
        return granted;
      end if;
    end loop;
  end
  $function$;
comment on function app_public.access_grant(uuid,text,uuid,text,timestamp with time zone,timestamp with time zone,text,text[]) is '@mutation
@param {Given} given
@param {User} userId Who may enter.
@param userExternalIdentifier Who may enter, by the identifier that the client system assigned.
@param {Unit} unitId The unit, with all below it.
@param unitExternalIdentifier The unit, with all below it, by the identifier that the client system assigned.
@param validFrom From when it gives access; null, or left out for a new grant: ever since.
@param validUntil Until when, exclusive, it gives access; null, or left out for a new grant: for ever.
@param source The system that gives it: 1 to 200 characters, compared exactly; null when it is given by hand.
Lets a user enter a unit and all below it. A user, a unit and a source have one grant: again, it is the same, and a time that is left out stays. Exactly one argument is given for the user, and one for the unit. Needs an app token (scope `app`).';
grant execute on function app_public.access_grant(uuid,text,uuid,text,timestamp with time zone,timestamp with time zone,text,text[]) to graph_app;
