CREATE OR REPLACE FUNCTION app_public.users_sync(users jsonb[], dry_run boolean DEFAULT false, source text DEFAULT NULL::text)
 RETURNS SETOF app_public.user_sync_result
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    is_dry_run boolean = coalesce(dry_run, false);
    judged app_hidden.judged_user[];
    written app_public.users[];
    tries int = 0;
  begin
    if cardinality(users_sync.users) = 0 then
      raise invalid_parameter_value using message = 'A sync has 1 to 1,000 rows', column = 'users';
    end if;
    -- As the constraint of the table has it, which no row of the sync may ask.
    if char_length(source) not between 1 and 200 then
      raise invalid_parameter_value using message = 'A source has 1 to 200 characters.', column = 'source';
    end if;
    if not is_dry_run then
      perform app_hidden.lock_units();
    end if;
    loop
      judged = app_hidden.judge_users(users_sync.users, users_sync.source);
      -- No index knows a token by its hash under the key before.
      if is_dry_run or tries > 0 or exists (select from unnest(judged) as j where j.changes ->> 'previous_hash' is not null) then
        judged = app_hidden.refuse_users(judged);
      end if;
      exit when is_dry_run;
      begin
        written = app_hidden.write_users(judged, users_sync.source);
        exit;
      exception
        -- A row breaks a rule; or a write without the lock took an address, or deleted a user, since the rows were judged.
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
comment on function app_public.users_sync(jsonb[],boolean,text) is '@mutation
@payloadField results
@param {UserSyncInput} users The users: 1 to 1,000.
@param dryRun = false Whether nothing is written, and the results say what would come of it.
@param source The system whose grants `accessibleUnits` are: 1 to 200 characters, compared exactly. Without one they are those given by hand.
Makes users what a client system has: creates those that are new, changes those that differ and leaves the rest untouched; none is deleted. A row that is refused changes nothing, the others are written, all in one transaction. The results are in the order of the rows. Needs an app token (scope `app`).';
grant execute on function app_public.users_sync(jsonb[],boolean,text) to graph_admin;
grant execute on function app_public.users_sync(jsonb[],boolean,text) to graph_app;
