CREATE OR REPLACE FUNCTION app_public.nfc_card_create(name text, nfc_identifier text, external_identifier text DEFAULT NULL::text)
 RETURNS app_public.cards
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    created app_public.cards;
  begin
    perform app_hidden.lock_organization(shared => true);
    if nfc_card_create.external_identifier is not null then
      perform app_hidden.lock_value('cards_external_identifier_key', nfc_card_create.external_identifier);
    end if;
    insert into app_public.cards (organization_id, type, name, nfc_identifier, external_identifier)
    values (
      app_hidden.current_organization_id(), 'NfcCard', app_hidden.trimmed(nfc_card_create.name),
      upper(nfc_card_create.nfc_identifier collate "C"), nfc_card_create.external_identifier)
    returning * into created;
    return created;
  end
  $function$;
comment on function app_public.nfc_card_create(text,text,text) is '@mutation
@returnType NfcCard
@param name Name: 1 to 200 characters.
@param nfcIdentifier Identifier of the NFC chip: 4, 7 or 10 bytes in hex without separators, unique in the organization.
@param externalIdentifier Identifier that the client system assigns: unique among cards of the organization, 1 to 200 characters, compared exactly.
Adds a card that is an NFC chip. Needs an app token (scope `app`).';
grant execute on function app_public.nfc_card_create(text,text,text) to graph_app;
