--! Previous: sha1:d1ca05bd63e8c66bb99d078ed960734f0bf48452
--! Hash: sha1:8e2e9d27df896726500153bb180eaaf4f43c1273
--! Message: decisions

-- A door asks: may who shows this enter here? app_hidden.decide_access decides, and everything that answers the question asks it.
--
-- It decides by the caller's own policies, so that what another organization has does not exist. What is found is a chain: a card leads to
-- its holders, these to their grants on the unit and on all above it. A grant is judged by its time, as in the rules about units.
--
-- A door waits for the answer. So each step is a look-up by a key, in a statement whose plan the session keeps: PostgreSQL would plan the one
-- that compares arrays anew for each decision, since it estimates lists of unknown length dearer than those at hand. No kept plan reads a
-- whole table, which may have been small when it was made.

create type app_hidden.access_question as (
  unit_id uuid, unit_external_identifier text,
  user_id uuid, user_external_identifier text, card_id uuid, card_external_identifier text, nfc_identifier text, beacon app_public.beacon_input,
  at timestamptz);
comment on type app_hidden.access_question is
  'May a user, or the holder of a card, enter a unit? Where an external identifier and an id are given, the id counts if the other one finds nothing.';
comment on column app_hidden.access_question.at is 'The time that the grants are judged by; null for now. Cards and units are as they are now.';

create type app_public.access_reason as enum (
  'GRANTED', 'NO_GRANT', 'NOT_YET_VALID', 'EXPIRED', 'CARD_UNKNOWN', 'CARD_UNASSIGNED', 'USER_UNKNOWN', 'UNIT_UNKNOWN');
comment on type app_public.access_reason is
  E'@value GRANTED A grant on the unit, or on one above it, is valid at that time.\n@value NO_GRANT There is no grant on the unit, nor on one above it.\n@value NOT_YET_VALID A grant has yet to begin, and none is valid.\n@value EXPIRED Every grant has ended.\n@value CARD_UNKNOWN There is no such card.\n@value CARD_UNASSIGNED Nobody has the card.\n@value USER_UNKNOWN There is no such user.\n@value UNIT_UNKNOWN There is no such unit.\nWhy somebody may or may not enter.';

create type app_public.access_decision as (
  organization_id uuid, is_allowed boolean, reason app_public.access_reason, user_id uuid, unit_id uuid, card_id uuid, access_grant_id uuid);
comment on type app_public.access_decision is
  E'@foreignKey (organization_id, user_id) references app_public.users (organization_id, id)|@fieldName user|@forwardDescription Who may enter; if nobody may, the user or the only holder of the card.\n'
  '@foreignKey (organization_id, unit_id) references app_public.units (organization_id, id)|@fieldName unit|@forwardDescription The unit; null when it is unknown.\n'
  '@foreignKey (organization_id, card_id) references app_public.cards (organization_id, id)|@fieldName card|@forwardDescription The card that was shown; null when it is unknown, or a user was named.\n'
  '@foreignKey (access_grant_id) references app_public.access_grants (id)|@fieldName accessGrant|@forwardDescription The grant that decided.\n'
  'Whether somebody may enter a unit, and why.';
comment on column app_public.access_decision.is_allowed is E'@notNull\nWhether the door may open.';
comment on column app_public.access_decision.reason is E'@notNull\nWhy.';
comment on column app_public.access_decision.user_id is '@behavior -*';
comment on column app_public.access_decision.unit_id is '@behavior -*';
comment on column app_public.access_decision.card_id is '@behavior -*';
comment on column app_public.access_decision.access_grant_id is '@behavior -*';

create function app_hidden.decide_access(questions app_hidden.access_question[]) returns setof app_public.access_decision
  language plpgsql stable rows 1 set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
  as $$
  declare
    own constant uuid = app_hidden.current_organization_id();
    question app_hidden.access_question;
    decision app_public.access_decision;
    unit_ids uuid[];
    holder_ids uuid[];
    moment timestamptz;
    is_by_card boolean;
  begin
    foreach question in array questions loop
      decision = null;
      decision.organization_id = own;
      moment = coalesce(question.at, app_hidden.current_moment());

      -- The unit, and those above it.
      unit_ids = null;
      if question.unit_external_identifier is not null then
        select u.id, u.ancestor_ids into decision.unit_id, unit_ids
        from app_public.units u where u.organization_id = own and u.external_identifier = question.unit_external_identifier;
      end if;
      if unit_ids is null and question.unit_id is not null then
        select u.id, u.ancestor_ids into decision.unit_id, unit_ids
        from app_public.units u where u.organization_id = own and u.id = question.unit_id;
      end if;

      -- The card.
      is_by_card = num_nonnulls(question.card_id, question.card_external_identifier, question.nfc_identifier, (question.beacon).proximity_uuid) > 0;
      if question.card_external_identifier is not null then
        select c.id into decision.card_id
        from app_public.cards c where c.organization_id = own and c.external_identifier = question.card_external_identifier;
      elsif question.nfc_identifier is not null then
        select c.id into decision.card_id
        from app_public.cards c where c.organization_id = own and c.nfc_identifier = upper(question.nfc_identifier collate "C");
      elsif (question.beacon).proximity_uuid is not null then
        select c.id into decision.card_id
        from app_public.cards c
        where c.organization_id = own and c.proximity_uuid = (question.beacon).proximity_uuid
          and c.major = (question.beacon).major and c.minor = (question.beacon).minor;
      end if;
      if decision.card_id is null and question.card_id is not null then
        select c.id into decision.card_id from app_public.cards c where c.organization_id = own and c.id = question.card_id;
      end if;

      -- Who would enter: the holders of the card, or the user.
      holder_ids = '{}';
      if decision.card_id is not null then
        holder_ids = array(select a.user_id from app_public.card_assignments a where a.organization_id = own and a.card_id = decision.card_id);
      elsif not is_by_card then
        if question.user_external_identifier is not null then
          holder_ids = array(
            select u.id from app_public.users u where u.organization_id = own and u.external_identifier = question.user_external_identifier);
        end if;
        if holder_ids = '{}' and question.user_id is not null then
          holder_ids = array(select u.id from app_public.users u where u.organization_id = own and u.id = question.user_id);
        end if;
      end if;

      if unit_ids is null then
        decision.reason = 'UNIT_UNKNOWN';
      elsif is_by_card and decision.card_id is null then
        decision.reason = 'CARD_UNKNOWN';
      elsif not is_by_card and holder_ids = '{}' then
        decision.reason = 'USER_UNKNOWN';
      elsif holder_ids = '{}' then
        decision.reason = 'CARD_UNASSIGNED';
      else
        -- The nearest of those that are valid; without one, of those that have yet to begin, and then of those that have ended.
        select
          case
            when a.valid_until <= moment then 'EXPIRED'
            when a.valid_from > moment then 'NOT_YET_VALID'
            else 'GRANTED'
          end, a.user_id, a.id
          into decision.reason, decision.user_id, decision.access_grant_id
        from app_hidden.unit_access a
        where a.organization_id = own and a.user_id = any (holder_ids) and a.unit_id = any (unit_ids)
        order by
          case when a.valid_until <= moment then 3 when a.valid_from > moment then 2 else 1 end,
          array_position(unit_ids, a.unit_id) desc, a.id
        limit 1;
        decision.reason = coalesce(decision.reason, 'NO_GRANT');
      end if;
      decision.is_allowed = decision.reason = 'GRANTED';
      if not decision.is_allowed then
        decision.user_id = case when cardinality(holder_ids) = 1 then holder_ids[1] end;
      end if;
      return next decision;
    end loop;
  end
  $$;
comment on function app_hidden.decide_access(app_hidden.access_question[]) is
  'Whether users, or holders of cards, may enter units, in the order of the questions. The one place that decides it.';

create type app_public.credential_input as (
  user_id uuid, user_external_identifier text, card_id uuid, card_external_identifier text, nfc_identifier text, beacon app_public.beacon_input);
comment on type app_public.credential_input is E'@oneOf\nWhat somebody shows at a door: exactly one of these.';
comment on column app_public.credential_input.user_id is E'@type {User}\nThe user.';
comment on column app_public.credential_input.user_external_identifier is 'The user, by the identifier that the client system assigned.';
comment on column app_public.credential_input.card_id is E'@type {Card}\nThe card.';
comment on column app_public.credential_input.card_external_identifier is 'The card, by the identifier that the client system assigned.';
comment on column app_public.credential_input.nfc_identifier is 'The card, by the identifier of its NFC chip: 4, 7 or 10 bytes in hex without separators, in upper or lower case.';
comment on column app_public.credential_input.beacon is 'The card, by what its beacon advertises.';

create function app_public.app_access_decision(
  app app_public.app, credential app_public.credential_input, unit_id uuid default null, unit_external_identifier text default null,
  at timestamptz default null
) returns app_public.access_decision
  language plpgsql stable set search_path = pg_catalog, pg_temp
  as $$
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
  $$;
comment on function app_public.app_access_decision(app_public.app, app_public.credential_input, uuid, text, timestamptz) is
  E'@notNull\n'
  '@param credential What somebody shows.\n'
  '@param {Unit} unitId The unit that they want to enter.\n'
  '@param unitExternalIdentifier The unit that they want to enter, by the identifier that the client system assigned.\n'
  '@param at The time that the grants are judged by: now, unless it is given. Cards and units are as they are now.\n'
  'Whether a user, or the holder of a card, may enter a unit. A grant on the unit or on one above it decides: the nearest of those that are valid then. Exactly one argument is given for the unit.';
grant execute on function
  app_hidden.decide_access(app_hidden.access_question[]),
  app_public.app_access_decision(app_public.app, app_public.credential_input, uuid, text, timestamptz)
  to graph_app;
