--! Previous: sha1:1b0a35749eb02d43b98130fe645ea031b68496e6
--! Hash: sha1:d1ca05bd63e8c66bb99d078ed960734f0bf48452
--! Message: mutations of access

-- The mutations of access: an application grants and revokes it.
-- A grant is known by its person, its unit and the system that gave it, its source: without one, the grant that was given by hand is meant.
-- So two systems, and a person who grants by hand, never change what another has given.

create function app_public.access_grant(
  user_id uuid default null, user_external_identifier text default null, unit_id uuid default null, unit_external_identifier text default null,
  valid_from timestamptz default null, valid_until timestamptz default null, source text default null, given text[] default '{}'
) returns app_public.access_grants
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
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
  $$;
comment on function app_public.access_grant(uuid, text, uuid, text, timestamptz, timestamptz, text, text[]) is
  E'@mutation\n@param {Given} given\n'
  '@param {User} userId Who may enter.\n'
  '@param userExternalIdentifier Who may enter, by the identifier that the client system assigned.\n'
  '@param {Unit} unitId The unit, with all below it.\n'
  '@param unitExternalIdentifier The unit, with all below it, by the identifier that the client system assigned.\n'
  '@param validFrom From when it gives access; null, or left out for a new grant: ever since.\n'
  '@param validUntil Until when, exclusive, it gives access; null, or left out for a new grant: for ever.\n'
  '@param source The system that gives it: 1 to 200 characters, compared exactly; null when it is given by hand.\n'
  'Lets a user enter a unit and all below it. A user, a unit and a source have one grant: again, it is the same, and a time that is left out stays. Exactly one argument is given for the user, and one for the unit. Needs an app token (scope `app`).';

create function app_public.access_revoke(
  id uuid default null, user_id uuid default null, user_external_identifier text default null,
  unit_id uuid default null, unit_external_identifier text default null, source text default null
) returns app_public.access_grants
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
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
  $$;
comment on function app_public.access_revoke(uuid, uuid, text, uuid, text, text) is
  E'@mutation\n'
  '@param {AccessGrant} id The grant that ends.\n'
  '@param {User} userId Who may no longer enter.\n'
  '@param userExternalIdentifier Who may no longer enter, by the identifier that the client system assigned.\n'
  '@param {Unit} unitId The unit.\n'
  '@param unitExternalIdentifier The unit, by the identifier that the client system assigned.\n'
  '@param source The system that gave it; without one, the grant that was given by hand ends.\n'
  'Revokes a grant; those on other units and of other sources stay. Given is `id`, or exactly one argument for the user and one for the unit. Needs an app token (scope `app`).';

grant execute on function
  app_public.access_grant(uuid, text, uuid, text, timestamptz, timestamptz, text, text[]),
  app_public.access_revoke(uuid, uuid, text, uuid, text, text)
  to graph_app;
