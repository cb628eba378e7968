--! Previous: sha1:14cc98df26d8122f42d7796ca41d7e6eac165ebf
--! Hash: sha1:1b0a35749eb02d43b98130fe645ea031b68496e6
--! Message: mutations of cards

-- The mutations of cards: an application adds, changes and deletes them, and assigns them to users.
-- No mutation of one card changes what it is made of, since another chip is another card; a sync does.

create function app_hidden.find_card(id uuid, external_identifier text) returns uuid
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    own constant uuid = app_hidden.current_organization_id();
    found_id uuid;
  begin
    if find_card.id is null then
      select c.id into found_id from app_public.cards c
      where c.organization_id = own and c.external_identifier = find_card.external_identifier for key share;
    else
      select c.id into found_id from app_public.cards c where c.organization_id = own and c.id = find_card.id for key share;
    end if;
    if found_id is null then
      raise no_data_found using message = 'There is no such card';
    end if;
    return found_id;
  end
  $$;
comment on function app_hidden.find_card(uuid, text) is 'The id of the card with this id or external identifier, which stays until the transaction ends; no_data_found without one.';
grant execute on function app_hidden.find_card(uuid, text) to graph_app;

create function app_public.beacon_card_create(name text, proximity_uuid uuid, major int, minor int, external_identifier text default null)
  returns app_public.cards
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
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
  $$;
comment on function app_public.beacon_card_create(text, uuid, int, int, text) is
  E'@mutation\n@returnType BeaconCard\n'
  '@param name Name: 1 to 200 characters.\n'
  '@param proximityUuid Proximity UUID that the beacon advertises; unique in the organization together with `major` and `minor`.\n'
  '@param major Major value of the beacon, 0 to 65535.\n'
  '@param minor Minor value of the beacon, 0 to 65535.\n'
  '@param externalIdentifier Identifier that the client system assigns: unique among cards of the organization, 1 to 200 characters, compared exactly.\n'
  'Adds a card that is a beacon. Needs an app token (scope `app`).';

create function app_public.nfc_card_create(name text, nfc_identifier text, external_identifier text default null)
  returns app_public.cards
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
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
  $$;
comment on function app_public.nfc_card_create(text, text, text) is
  E'@mutation\n@returnType NfcCard\n'
  '@param name Name: 1 to 200 characters.\n'
  '@param nfcIdentifier Identifier of the NFC chip: 4, 7 or 10 bytes in hex without separators, unique in the organization.\n'
  '@param externalIdentifier Identifier that the client system assigns: unique among cards of the organization, 1 to 200 characters, compared exactly.\n'
  'Adds a card that is an NFC chip. Needs an app token (scope `app`).';

create function app_public.identification_code_create(name text, external_identifier text default null)
  returns app_public.cards
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
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
  $$;
comment on function app_public.identification_code_create(text, text) is
  E'@mutation\n@returnType IdentificationCode\n'
  '@param name Name: 1 to 200 characters.\n'
  '@param externalIdentifier Identifier that the client system assigns: unique among cards of the organization, 1 to 200 characters, compared exactly.\n'
  'Adds a card that is a code. Needs an app token (scope `app`).';

create function app_public.card_update(id uuid default null, external_identifier text default null, name text default null, given text[] default '{}')
  returns app_public.cards
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    own constant uuid = app_hidden.current_organization_id();
    renames constant boolean = card_update.id is not null and 'externalIdentifier' = any (given);
    changed_id uuid;
    old_identifier text;
    card app_public.cards;
  begin
    perform app_hidden.require_values(given, '{name}', array[card_update.name]);
    if card_update.id is null then
      perform app_hidden.require_one('id', false, card_update.external_identifier is not null);
    end if;
    changed_id = coalesce(card_update.id, (
      select c.id from app_public.cards c where c.organization_id = own and c.external_identifier = card_update.external_identifier));
    if renames then
      perform app_hidden.lock_organization(shared => true);
      select c.external_identifier into old_identifier
      from app_public.cards c where c.organization_id = own and c.id = changed_id for update;
      perform app_hidden.lock_value('cards_external_identifier_key', card_update.external_identifier, old_identifier);
    end if;
    update app_public.cards c set
      name = coalesce(app_hidden.trimmed(card_update.name), c.name),
      external_identifier = case when renames then card_update.external_identifier else c.external_identifier end
    where c.organization_id = own and c.id = changed_id
    returning * into card;
    if not found then
      raise no_data_found using message = 'There is no such card';
    end if;
    return card;
  end
  $$;
comment on function app_public.card_update(uuid, text, text, text[]) is
  E'@mutation\n@param {Given} given\n'
  '@param {Card} id The card to change.\n'
  '@param externalIdentifier With `id`, the new value (null clears it); without `id`, the card to change.\n'
  '@param name Name: 1 to 200 characters.\n'
  'Changes a card, found by `id`, or without it by `externalIdentifier`. An omitted argument leaves its value. Needs an app token (scope `app`).';

create function app_public.card_delete(id uuid default null, external_identifier text default null) returns app_public.cards
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    own constant uuid = app_hidden.current_organization_id();
    deleted_id uuid;
    card app_public.cards;
  begin
    perform app_hidden.require_one('id', card_delete.id is not null, card_delete.external_identifier is not null);
    deleted_id = coalesce(card_delete.id, (
      select c.id from app_public.cards c where c.organization_id = own and c.external_identifier = card_delete.external_identifier));
    -- A code may have several holders. Deletions of codes and of their holders would wait for each other's assignments.
    perform app_hidden.lock_organization(shared => coalesce(
      (select c.type <> 'IdentificationCode' from app_public.cards c where c.organization_id = own and c.id = deleted_id), true));
    delete from app_public.cards c where c.organization_id = own and c.id = deleted_id returning * into card;
    if not found then
      raise no_data_found using message = 'There is no such card';
    end if;
    return card;
  end
  $$;
comment on function app_public.card_delete(uuid, text) is
  E'@mutation\n'
  '@param {Card} id The card to delete.\n'
  '@param externalIdentifier The card to delete, by the identifier that the client system assigned.\n'
  'Deletes a card with its assignments. Exactly one of the arguments is given. Needs an app token (scope `app`).';

create function app_public.card_assign(
  card_id uuid default null, card_external_identifier text default null, user_id uuid default null, user_external_identifier text default null
) returns app_public.card_assignments
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    own constant uuid = app_hidden.current_organization_id();
    assigned_id uuid;
    holder_id uuid;
    assignment app_public.card_assignments;
  begin
    perform app_hidden.require_one('cardId', card_id is not null, card_external_identifier is not null);
    perform app_hidden.require_one('userId', user_id is not null, user_external_identifier is not null);
    perform app_hidden.lock_organization(shared => true);
    assigned_id = app_hidden.find_card(card_id, card_external_identifier);
    holder_id = app_hidden.find_user(user_id, user_external_identifier);
    loop
      insert into app_public.card_assignments (organization_id, user_id, card_id) values (own, holder_id, assigned_id)
      on conflict do nothing
      returning * into assignment;
      if found then
        return assignment;
      end if;
      select * into assignment from app_public.card_assignments a
      where a.organization_id = own and a.card_id = assigned_id and a.user_id = holder_id;
      if found then
        return assignment;
      end if;
      if exists (select from app_public.card_assignments a where a.organization_id = own and a.card_id = assigned_id and a.is_exclusive) then
        raise unique_violation using
          message = 'Another user has this card.', column = case when card_id is null then 'cardExternalIdentifier' else 'cardId' end;
      end if;
      -- Withdrawn between the statements, it is assigned anew.
    end loop;
  end
  $$;
comment on function app_public.card_assign(uuid, text, uuid, text) is
  E'@mutation\n'
  '@param {Card} cardId The card.\n'
  '@param cardExternalIdentifier The card, by the identifier that the client system assigned.\n'
  '@param {User} userId Who gets it.\n'
  '@param userExternalIdentifier Who gets it, by the identifier that the client system assigned.\n'
  'Assigns a card to a user; again, it is the same assignment. Several users may have an identification code, and one a badge or beacon. Exactly one of each two arguments is given. Needs an app token (scope `app`).';

create function app_public.card_unassign(
  id uuid default null, card_id uuid default null, card_external_identifier text default null,
  user_id uuid default null, user_external_identifier text default null
) returns app_public.card_assignments
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
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
  $$;
comment on function app_public.card_unassign(uuid, uuid, text, uuid, text) is
  E'@mutation\n'
  '@param {CardAssignment} id The assignment that ends.\n'
  '@param {Card} cardId The card.\n'
  '@param cardExternalIdentifier The card, by the identifier that the client system assigned.\n'
  '@param {User} userId Who has it.\n'
  '@param userExternalIdentifier Who has it, by the identifier that the client system assigned.\n'
  'Withdraws a card from a user. Given is `id`, or exactly one argument for the card and one for the user. Needs an app token (scope `app`).';

grant execute on function
  app_public.beacon_card_create(text, uuid, int, int, text), app_public.nfc_card_create(text, text, text),
  app_public.identification_code_create(text, text), app_public.card_update(uuid, text, text, text[]), app_public.card_delete(uuid, text),
  app_public.card_assign(uuid, text, uuid, text), app_public.card_unassign(uuid, uuid, text, uuid, text)
  to graph_app;
