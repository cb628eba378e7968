CREATE OR REPLACE FUNCTION oauth.purge_deliveries(batch integer)
 RETURNS TABLE(deliveries integer)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    -- Runs as graph_purger because what is old belongs to every organization; its policy leaves the rest.
    if not pg_try_advisory_xact_lock(hashtextextended('oauth.purge', 0)) then
      return;
    end if;
    delete from app_public.webhook_deliveries as old
    using (
      select d.organization_id, d.id from app_public.webhook_deliveries d
      where d.changed_at <= statement_timestamp() - feed.retention()
      order by d.changed_at
      limit purge_deliveries.batch
    ) as d
    where old.organization_id = d.organization_id and old.id = d.id;
    get diagnostics deliveries = row_count;
    return next;
  end
  $function$;
alter function oauth.purge_deliveries(integer) owner to graph_purger;
comment on function oauth.purge_deliveries(integer) is 'Deletes at most so many deliveries whose changes are older than feed.retention, and says how many; no row when another session is at it.';
grant execute on function oauth.purge_deliveries(integer) to graph_admin;
grant execute on function oauth.purge_deliveries(integer) to graph_oauth;
