CREATE OR REPLACE FUNCTION feed.next_horizon(organization_id uuid)
 RETURNS xid8
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    own xid8 = pg_current_xact_id();
  begin
    -- Mostly no transaction that began later has ended by now.
    if pg_snapshot_xmax(pg_current_snapshot()) <= own then
      return own;
    end if;
    -- A greater horizon is of a transaction that began later, so that it has written later.
    return coalesce(
      (
        select max(c.horizon)
        from feed.changes c
        where c.organization_id = next_horizon.organization_id and c.horizon > own and c.origin = (select feed.origin())
          and c.at >= transaction_timestamp() - interval '1 minute'
      ),
      own);
  end
  $function$;
comment on function feed.next_horizon(uuid) is 'The horizon of a change that is written now: no less than that of any change that is committed.';
grant execute on function feed.next_horizon(uuid) to graph_helper;
