CREATE OR REPLACE FUNCTION app_public.units_sync(units jsonb[], dry_run boolean DEFAULT false)
 RETURNS SETOF app_public.unit_sync_result
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
  declare
    organization uuid = app_hidden.current_organization_id();
    is_dry_run boolean = coalesce(dry_run, false);
    judged app_hidden.judged_unit[];
    tries int = 0;
  begin
    if cardinality(units_sync.units) = 0 then
      raise invalid_parameter_value using message = 'A sync has 1 to 1,000 rows', column = 'units';
    end if;
    if not is_dry_run then
      perform app_hidden.lock_units();
    end if;
    loop
      judged = app_hidden.judge_units(units_sync.units);
      exit when is_dry_run;
      begin
        perform app_hidden.write_units(judged);
        exit;
      exception
        -- Another change took an external identifier since they were judged.
        when unique_violation then
          tries = tries + 1;
          if tries = 3 then
            raise;
          end if;
      end;
    end loop;

    return query
      select j.external_identifier, j.outcome, case when j.outcome <> 'REFUSED' then u end, j.error
      from unnest(judged) as j
      left join app_public.units u on u.organization_id = organization and u.id = (j.after).id
      order by j.place;
  end
  $function$;
comment on function app_public.units_sync(jsonb[],boolean) is '@mutation
@payloadField results
@param {UnitSyncInput} units The units: 1 to 1,000, in any order.
@param dryRun = false Whether nothing is written, and the results say what would come of it.
Makes units what a client system has: creates those that are new, changes and moves those that differ and leaves the rest untouched; none is deleted. A row that is refused changes nothing, the others are written, all in one transaction. The results are in the order of the rows. Needs an app token (scope `app`).';
grant execute on function app_public.units_sync(jsonb[],boolean) to graph_admin;
grant execute on function app_public.units_sync(jsonb[],boolean) to graph_app;
