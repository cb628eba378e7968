CREATE OR REPLACE FUNCTION oauth.purge_sessions(batch integer)
 RETURNS TABLE(sessions integer)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    -- Runs as graph_purger because what has expired belongs to every organization.
    if not pg_try_advisory_xact_lock(hashtextextended('oauth.purge', 0)) then
      return;
    end if;
    delete from oauth.sessions where sid = any (array(
      select s.sid from oauth.sessions s
      where s.expire <= statement_timestamp() order by s.expire limit purge_sessions.batch
      for update skip locked));
    get diagnostics sessions = row_count;
    return next;
  end
  $function$;
alter function oauth.purge_sessions(integer) owner to graph_purger;
comment on function oauth.purge_sessions(integer) is 'Deletes at most so many expired sessions, and says how many; no row when another session is at it.';
grant execute on function oauth.purge_sessions(integer) to graph_admin;
grant execute on function oauth.purge_sessions(integer) to graph_oauth;
