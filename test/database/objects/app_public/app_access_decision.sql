CREATE OR REPLACE FUNCTION app_public.app_access_decision(app app_public.app, credential app_public.credential_input, unit_id uuid DEFAULT NULL::uuid, unit_external_identifier text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone)
 RETURNS app_public.access_decision
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    perform app_hidden.require_one('unitId', unit_id is not null, unit_external_identifier is not null);
    if upper(credential.nfc_identifier collate "C") !~ '^([0-9A-F]{8}|[0-9A-F]{14}|[0-9A-F]{20})$' then
      raise invalid_parameter_value using message = 'The identifier of an NFC chip has 4, 7 or 10 bytes in hex without separators, such as 04A224B2C13A80.', column = 'credential';
    elsif (credential.beacon).major not between 0 and 65535 or (credential.beacon).minor not between 0 and 65535 then
      raise invalid_parameter_value using message = 'The major and the minor value of a beacon are from 0 to 65535.', column = 'credential';
    end if;
    return app_hidden.decide_access(array[row (
      unit_id, unit_external_identifier, credential.user_id, credential.user_external_identifier, credential.card_id,
      credential.card_external_identifier, credential.nfc_identifier, credential.beacon, at)::app_hidden.access_question]);
  end
  $function$;
comment on function app_public.app_access_decision(app_public.app,app_public.credential_input,uuid,text,timestamp with time zone) is '@notNull
@param credential What somebody shows.
@param {Unit} unitId The unit that they want to enter.
@param unitExternalIdentifier The unit that they want to enter, by the identifier that the client system assigned.
@param at The time that the grants are judged by: now, unless it is given. Cards and units are as they are now.
Whether a user, or the holder of a card, may enter a unit. A grant on the unit or on one above it decides: the nearest of those that are valid then. Exactly one argument is given for the unit.';
grant execute on function app_public.app_access_decision(app_public.app,app_public.credential_input,uuid,text,timestamp with time zone) to graph_app;
