CREATE OR REPLACE FUNCTION audit.explain_decision(principal text, question jsonb, at timestamp with time zone DEFAULT NULL::timestamp with time zone)
 RETURNS TABLE(step text, id uuid, name text, detail text, holds boolean)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET jit TO 'off'
 SET "DateStyle" TO 'ISO, MDY'
 SET "IntervalStyle" TO 'postgres'
 SET "TimeZone" TO 'UTC'
 SET bytea_output TO 'hex'
 SET extra_float_digits TO '1'
AS $function$
  declare
    candidate audit.principals = audit.find_principal(principal);
    own uuid = candidate.organization_id;
    unknown text = (
      select string_agg(key, ', ') from jsonb_object_keys(question) as key
      where key not in (select a.attname from pg_attribute a where a.attrelid = 'app_hidden.access_question'::regclass and a.attnum > 0));
    decision app_public.access_decision;
    moment timestamptz;
  begin
    if candidate.role <> 'graph_app' or unknown is not null then
      raise exception using
        errcode = 'invalid_parameter_value',
        message = case when unknown is null then format('%s asks for no decision', principal) else format('A decision is not asked by %s', unknown) end,
        hint = case when unknown is null then 'An application does: app:<client id>'
          else 'Such as {"unit_external_identifier": "…", "nfc_identifier": "…"}; see app_hidden.access_question.' end;
    end if;
    begin
      if explain_decision.at is not null then
        perform audit.rebuild(explain_decision.at, own);
      end if;
      perform audit.become(candidate);
      moment = coalesce((question ->> 'at')::timestamptz, app_hidden.current_moment());
      decision = app_hidden.decide_access(array[jsonb_populate_record(null::app_hidden.access_question, question)]);
      return query
        with holders as materialized (
          select u.id, u.full_name
          from app_public.users u
          where u.organization_id = own
            and case when decision.card_id is null then u.id = decision.user_id
              else u.id in (select a.user_id from app_public.card_assignments a where a.organization_id = own and a.card_id = decision.card_id) end
        ),
        path as materialized (
          select u.id, u.name, above.place
          from app_public.units asked
          cross join unnest(asked.ancestor_ids) with ordinality as above (id, place)
          join app_public.units u on u.organization_id = own and u.id = above.id
          where asked.organization_id = own and asked.id = decision.unit_id
        )
        select told.step, told.id, told.name, told.detail, told.holds
        from (
          select 1 as part, 0::bigint as place, 'decision' as step, null::uuid as id, decision.reason::text as name, moment::text as detail, decision.is_allowed as holds
          union all
          select 2, 0, 'card', c.id, c.name, c.type, true from app_public.cards c where c.organization_id = own and c.id = decision.card_id
          union all
          select 3, 0, case when decision.card_id is null then 'user' else 'holder' end, h.id, h.full_name, null, true from holders h
          union all
          select 4, -p.place, 'unit', p.id, p.name, case when p.id = decision.unit_id then 'asked for' else 'above' end, true from path p
          union all
          select
            5, -p.place, 'grant', a.id, format('%s: %s', h.full_name, p.name),
            concat_ws(', ', case when a.id = decision.access_grant_id then 'decides' end, 'of ' || a.source, 'from ' || a.valid_from, 'until ' || a.valid_until),
            (a.valid_from is null or a.valid_from <= moment) and (a.valid_until is null or a.valid_until > moment)
          from app_hidden.unit_access a
          join holders h on h.id = a.user_id
          join path p on p.id = a.unit_id
          where a.organization_id = own
        ) as told
        order by told.part, told.place, told.id;
      raise exception using errcode = 'AUDIT';
    exception
      when sqlstate 'AUDIT' then null;
    end;
  end
  $function$;
comment on function audit.explain_decision(text,jsonb,timestamp with time zone) is 'What an application is told when it asks whether somebody may enter, and the path to it: card, holders, units and grants. The question has the columns of app_hidden.access_question. At a time that has passed, cards, units and grants are those of then. For the owner.';
grant execute on function audit.explain_decision(text,jsonb,timestamp with time zone) to graph_admin;
