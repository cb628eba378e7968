CREATE OR REPLACE FUNCTION app_hidden.decide_access(questions app_hidden.access_question[])
 RETURNS SETOF app_public.access_decision
 LANGUAGE plpgsql
 STABLE ROWS 1
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
AS $function$
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
  $function$;
comment on function app_hidden.decide_access(app_hidden.access_question[]) is 'Whether users, or holders of cards, may enter units, in the order of the questions. The one place that decides it.';
grant execute on function app_hidden.decide_access(app_hidden.access_question[]) to graph_app;
