CREATE OR REPLACE FUNCTION app_public.cards_sync(cards jsonb[], dry_run boolean DEFAULT false)
 RETURNS SETOF app_public.card_sync_result
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    is_dry_run boolean = coalesce(dry_run, false);
    judged app_hidden.judged_card[];
    written app_public.cards[];
    tries int = 0;
  begin
    if cardinality(cards_sync.cards) = 0 then
      raise invalid_parameter_value using message = 'A sync has 1 to 1,000 rows', column = 'cards';
    end if;
    if not is_dry_run then
      perform app_hidden.lock_organization();
    end if;
    loop
      judged = app_hidden.refuse_cards(app_hidden.judge_cards(cards_sync.cards));
      exit when is_dry_run;
      begin
        written = app_hidden.write_cards(judged);
        exit;
      exception
        -- A write without the lock took an identifier, or deleted a card or a holder, since the rows were judged.
        when check_violation or unique_violation or foreign_key_violation then
          tries = tries + 1;
          if tries = 4 then
            -- The sync found that row itself: no argument of the client is wrong, and the client may repeat the request.
            if sqlstate = '23503' then
              raise serialization_failure using message = sqlerrm;
            end if;
            raise;
          end if;
      end;
    end loop;

    return query
      select j.external_identifier, j.outcome, case when j.outcome <> 'REFUSED' then coalesce(w, j.before) end, j.error
      from unnest(judged) as j
      left join unnest(written) as w on w.external_identifier = j.external_identifier
      order by j.place;
  end
  $function$;
comment on function app_public.cards_sync(jsonb[],boolean) is '@mutation
@payloadField results
@param {CardSyncInput} cards The cards: 1 to 1,000.
@param dryRun = false Whether nothing is written, and the results say what would come of it.
Makes cards what a client system has, and gives them to their holders: creates those that are new, changes those that differ and leaves the rest untouched; none is deleted. A row that is refused changes nothing, the others are written, all in one transaction. The results are in the order of the rows. Needs an app token (scope `app`).';
grant execute on function app_public.cards_sync(jsonb[],boolean) to graph_admin;
grant execute on function app_public.cards_sync(jsonb[],boolean) to graph_app;
