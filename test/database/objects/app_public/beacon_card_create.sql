CREATE OR REPLACE FUNCTION app_public.beacon_card_create(name text, proximity_uuid uuid, major integer, minor integer, external_identifier text DEFAULT NULL::text)
 RETURNS app_public.cards
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    created app_public.cards;
  begin
    perform app_hidden.lock_organization(shared => true);
    if beacon_card_create.external_identifier is not null then
      perform app_hidden.lock_value('cards_external_identifier_key', beacon_card_create.external_identifier);
    end if;
    insert into app_public.cards (organization_id, type, name, proximity_uuid, major, minor, external_identifier)
    values (
      app_hidden.current_organization_id(), 'BeaconCard', app_hidden.trimmed(beacon_card_create.name), beacon_card_create.proximity_uuid,
      beacon_card_create.major, beacon_card_create.minor, beacon_card_create.external_identifier)
    returning * into created;
    return created;
  end
  $function$;
comment on function app_public.beacon_card_create(text,uuid,integer,integer,text) is '@mutation
@returnType BeaconCard
@param name Name: 1 to 200 characters.
@param proximityUuid Proximity UUID that the beacon advertises; unique in the organization together with `major` and `minor`.
@param major Major value of the beacon, 0 to 65535.
@param minor Minor value of the beacon, 0 to 65535.
@param externalIdentifier Identifier that the client system assigns: unique among cards of the organization, 1 to 200 characters, compared exactly.
Adds a card that is a beacon. Needs an app token (scope `app`).';
grant execute on function app_public.beacon_card_create(text,uuid,integer,integer,text) to graph_app;
