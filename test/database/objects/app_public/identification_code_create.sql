CREATE OR REPLACE FUNCTION app_public.identification_code_create(name text, external_identifier text DEFAULT NULL::text)
 RETURNS app_public.cards
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    created app_public.cards;
  begin
    perform app_hidden.lock_organization(shared => true);
    insert into app_public.cards (organization_id, type, name, external_identifier)
    values (
      app_hidden.current_organization_id(), 'IdentificationCode', app_hidden.trimmed(identification_code_create.name),
      identification_code_create.external_identifier)
    returning * into created;
    return created;
  end
  $function$;
comment on function app_public.identification_code_create(text,text) is '@mutation
@returnType IdentificationCode
@param name Name: 1 to 200 characters.
@param externalIdentifier Identifier that the client system assigns: unique among cards of the organization, 1 to 200 characters, compared exactly.
Adds a card that is a code. Needs an app token (scope `app`).';
grant execute on function app_public.identification_code_create(text,text) to graph_app;
