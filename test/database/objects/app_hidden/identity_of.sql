CREATE OR REPLACE FUNCTION app_hidden.identity_of(card app_public.cards)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select coalesce(card.nfc_identifier, format('%s %s %s', card.proximity_uuid, card.major, card.minor) collate "C")
    where card.type <> 'IdentificationCode'
  $function$;
comment on function app_hidden.identity_of(app_public.cards) is 'What a reader reads of a badge or beacon, as one text; null for a code.';
grant execute on function app_hidden.identity_of(app_public.cards) to graph_admin;
grant execute on function app_hidden.identity_of(app_public.cards) to graph_app;
