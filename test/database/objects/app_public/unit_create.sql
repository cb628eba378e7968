CREATE OR REPLACE FUNCTION app_public.unit_create(name text, external_identifier text DEFAULT NULL::text, parent_id uuid DEFAULT NULL::uuid, parent_external_identifier text DEFAULT NULL::text)
 RETURNS app_public.units
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    parent uuid;
    unit app_public.units;
  begin
    if parent_id is not null or parent_external_identifier is not null then
      perform app_hidden.require_one('parentId', parent_id is not null, parent_external_identifier is not null);
      perform app_hidden.lock_units(true);
      parent = app_hidden.find_unit(parent_id, parent_external_identifier);
      -- The row before the value: another write may give the parent the external identifier of the new unit.
      perform from app_public.units u where u.organization_id = (select app_hidden.current_organization_id()) and u.id = parent for key share;
    end if;
    insert into app_public.units (organization_id, parent_id, external_identifier, name)
    values (app_hidden.current_organization_id(), parent, unit_create.external_identifier, app_hidden.trimmed(unit_create.name))
    returning * into unit;
    return unit;
  end
  $function$;
comment on function app_public.unit_create(text,text,uuid,text) is '@mutation
@param name Name: 1 to 200 characters.
@param externalIdentifier Identifier that the client system assigns: unique in the organization, 1 to 200 characters, compared exactly.
@param {Unit} parentId The unit above; a unit without one is at the top.
@param parentExternalIdentifier The unit above, by the identifier that the client system assigned.
Adds a unit to the organization. At most one of the two arguments for the unit above is given. Needs an app token (scope `app`).';
grant execute on function app_public.unit_create(text,text,uuid,text) to graph_app;
