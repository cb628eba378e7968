CREATE OR REPLACE FUNCTION app_hidden.require_replayed(lsn pg_lsn)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    -- One that is no replica any more may have a history of its own.
    if (pg_is_in_recovery() and pg_last_wal_replay_lsn() >= lsn) is not true then
      raise exception 'this server is no replica, or has not replayed what it is asked for' using errcode = 'STALE';
    end if;
  end
  $function$;
comment on function app_hidden.require_replayed(pg_lsn) is 'Fails with SQLSTATE STALE unless this is a replica that has come as far.';
grant execute on function app_hidden.require_replayed(pg_lsn) to graph_app;
grant execute on function app_hidden.require_replayed(pg_lsn) to graph_basic;
grant execute on function app_hidden.require_replayed(pg_lsn) to graph_user;
