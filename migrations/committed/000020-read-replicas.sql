--! Previous: sha1:9c6ac6b78517b95c38bad163c013a04bb4c72551
--! Hash: sha1:c97aaf256b70a4fd1f1d329bd49a1c1c9b1878c5
--! Message: read replicas

-- Read replicas: a streaming replica may answer queries, and lags behind. Everybody still reads their own writes: a grant remembers how far
-- the primary's log was after its last write, and a replica that has not replayed so far says so.

create function oauth.written_lsn(organization_id uuid, grant_id uuid) returns pg_lsn
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
  begin
    -- A former primary still knows tokens that have ended since.
    if pg_is_in_recovery() then
      raise exception 'this server is not the primary' using errcode = 'read_only_sql_transaction';
    end if;
    -- Runs as graph_helper because it is asked together with oauth.verify_access_token, while there is no organization yet. One that is
    -- ahead of the log came with a dump from somewhere else.
    return (
      select g.written_lsn from oauth.grants g
      where g.organization_id = written_lsn.organization_id and g.id = written_lsn.grant_id and g.written_lsn <= pg_current_wal_insert_lsn());
  end
  $$;
comment on function oauth.written_lsn(uuid, uuid) is 'What a replica must have replayed to show the holder of a grant what they have written; null when it is not known.';
grant create on schema oauth to graph_helper;
alter function oauth.written_lsn(uuid, uuid) owner to graph_helper;
revoke create on schema oauth from graph_helper;
grant execute on function oauth.written_lsn(uuid, uuid) to graph_oauth;

create function app_hidden.require_replayed(lsn pg_lsn) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  begin
    -- One that is no replica any more may have a history of its own.
    if (pg_is_in_recovery() and pg_last_wal_replay_lsn() >= lsn) is not true then
      raise exception 'this server is no replica, or has not replayed what it is asked for' using errcode = 'STALE';
    end if;
  end
  $$;
comment on function app_hidden.require_replayed(pg_lsn) is 'Fails with SQLSTATE STALE unless this is a replica that has come as far.';
grant execute on function app_hidden.require_replayed(pg_lsn) to graph_app, graph_user, graph_basic;
