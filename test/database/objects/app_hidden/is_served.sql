CREATE OR REPLACE FUNCTION app_hidden.is_served(organization_id uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET row_security TO 'on'
AS $function$
  declare
    found_state text;
  begin
    -- Runs as graph_helper because nobody who works for an organization may look at moves. It is volatile, so that each statement here sees
    -- what was committed before it.
    select m.state into found_state
    from app_hidden.organization_moves m where m.organization_id = is_served.organization_id;
    if found_state = 'copying' then
      if not pg_try_advisory_xact_lock_shared(app_hidden.move_lock(is_served.organization_id)) then
        return false;
      end if;
      select m.state into found_state
      from app_hidden.organization_moves m where m.organization_id = is_served.organization_id;
    end if;
    return coalesce(found_state in ('copying', 'arrived'), true);
  end
  $function$;
alter function app_hidden.is_served(uuid) owner to graph_helper;
comment on function app_hidden.is_served(uuid) is 'Whether this database serves the organization. If so, it does until the end of the transaction: a cut-over waits for that.';
grant execute on function app_hidden.is_served(uuid) to graph_admin;
grant execute on function app_hidden.is_served(uuid) to graph_oauth;
grant execute on function app_hidden.is_served(uuid) to graph_worker;
