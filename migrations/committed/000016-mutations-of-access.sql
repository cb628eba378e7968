--! Previous: sha1:e545a22f857ca3ef2b52dcf6df1511544b46c0dd
--! Hash: sha1:68dda1598f87ff635e608cbe74bcea2ee2a40722
--! Message: mutations of access

-- The mutations of access: an application grants and revokes it.
-- A grant of a source is that system's: by person and unit, the grant that was given by hand is meant.

create function app_public.access_grant(
  user_id uuid default null, user_external_identifier text default null, unit_id uuid default null, unit_external_identifier text default null
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
  $$;
comment on function app_public.access_grant(uuid, text, uuid, text) is
  E'@mutation\n'
  '@param {User} userId Who may enter.\n'
  '@param userExternalIdentifier Who may enter, by the identifier that the client system assigned.\n'
  '@param {Unit} unitId The unit, with all below it.\n'
  '@param unitExternalIdentifier The unit, with all below it, by the identifier that the client system assigned.\n'
  'Lets a user enter a unit and all below it; again, it is the same grant. Exactly one of each two arguments is given. Needs an app token (scope `app`).';

create function app_public.access_revoke(
  id uuid default null, user_id uuid default null, user_external_identifier text default null,
  unit_id uuid default null, unit_external_identifier text default null
) returns app_public.access_grants
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    own constant uuid = app_hidden.current_organization_id();
    is_by_both constant boolean = num_nonnulls(user_id, user_external_identifier, unit_id, unit_external_identifier) > 0;
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
      entrant_id = app_hidden.find_user(user_id, user_external_identifier);
      closed_id = app_hidden.find_unit(unit_id, unit_external_identifier);
    end if;
    delete from app_hidden.unit_access a
    where a.organization_id = own
      and (a.id = access_revoke.id or a.user_id = entrant_id and a.unit_id = closed_id and a.source is null)
    returning a.organization_id, a.id, a.user_id, a.unit_id, a.created_at into revoked;
    if not found then
      raise no_data_found using message = 'There is no such grant';
    end if;
    return revoked;
  end
  $$;
comment on function app_public.access_revoke(uuid, uuid, text, uuid, text) is
  E'@mutation\n'
  '@param {AccessGrant} id The grant that ends.\n'
  '@param {User} userId Who may no longer enter.\n'
  '@param userExternalIdentifier Who may no longer enter, by the identifier that the client system assigned.\n'
  '@param {Unit} unitId The unit.\n'
  '@param unitExternalIdentifier The unit, by the identifier that the client system assigned.\n'
  'Revokes a grant; those on other units stay. Given is `id`, or exactly one argument for the user and one for the unit. Needs an app token (scope `app`).';

grant execute on function
  app_public.access_grant(uuid, text, uuid, text), app_public.access_revoke(uuid, uuid, text, uuid, text)
  to graph_app;
