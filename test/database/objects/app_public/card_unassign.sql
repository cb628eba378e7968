CREATE OR REPLACE FUNCTION app_public.card_unassign(id uuid DEFAULT NULL::uuid, card_id uuid DEFAULT NULL::uuid, card_external_identifier text DEFAULT NULL::text, user_id uuid DEFAULT NULL::uuid, user_external_identifier text DEFAULT NULL::text)
 RETURNS app_public.card_assignments
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    own constant uuid = app_hidden.current_organization_id();
    is_by_both constant boolean = num_nonnulls(card_id, card_external_identifier, user_id, user_external_identifier) > 0;
    assigned_id uuid;
    holder_id uuid;
    assignment app_public.card_assignments;
  begin
    if card_unassign.id is not null or not is_by_both then
      if card_unassign.id is null or is_by_both then
        raise invalid_parameter_value using message = 'Give either id, or the card and the user.', column = 'id';
      end if;
      delete from app_public.card_assignments a where a.organization_id = own and a.id = card_unassign.id returning * into assignment;
    else
      perform app_hidden.require_one('cardId', card_id is not null, card_external_identifier is not null);
      perform app_hidden.require_one('userId', user_id is not null, user_external_identifier is not null);
      perform app_hidden.lock_organization(shared => true);
      assigned_id = app_hidden.find_card(card_id, card_external_identifier);
      holder_id = app_hidden.find_user(user_id, user_external_identifier);
      delete from app_public.card_assignments a
      where a.organization_id = own and a.card_id = assigned_id and a.user_id = holder_id
      returning * into assignment;
    end if;
    if not found then
      raise no_data_found using message = 'There is no such card assignment';
    end if;
    return assignment;
  end
  $function$;
comment on function app_public.card_unassign(uuid,uuid,text,uuid,text) is '@mutation
@param {CardAssignment} id The assignment that ends.
@param {Card} cardId The card.
@param cardExternalIdentifier The card, by the identifier that the client system assigned.
@param {User} userId Who has it.
@param userExternalIdentifier Who has it, by the identifier that the client system assigned.
Withdraws a card from a user. Given is `id`, or exactly one argument for the card and one for the user. Needs an app token (scope `app`).';
grant execute on function app_public.card_unassign(uuid,uuid,text,uuid,text) to graph_app;
