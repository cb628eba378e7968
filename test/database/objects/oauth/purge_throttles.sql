CREATE OR REPLACE FUNCTION oauth.purge_throttles(batch integer)
 RETURNS TABLE(throttles integer)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    -- Runs as graph_purger because graph_oauth may end no window.
    if not pg_try_advisory_xact_lock(hashtextextended('oauth.purge', 0)) then
      return;
    end if;
    delete from oauth.throttles where key in (
      select t.key from oauth.throttles t
      where t.expire <= extract(epoch from statement_timestamp()) * 1000 limit purge_throttles.batch);
    get diagnostics throttles = row_count;
    return next;
  end
  $function$;
alter function oauth.purge_throttles(integer) owner to graph_purger;
comment on function oauth.purge_throttles(integer) is 'Deletes at most so many counts whose window is over, and says how many; no row when another session is at it.';
grant execute on function oauth.purge_throttles(integer) to graph_admin;
grant execute on function oauth.purge_throttles(integer) to graph_oauth;
