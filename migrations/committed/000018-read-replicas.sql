--! Previous: sha1:d3be113ba187a2f199df9979f250d655ec19e6b8
--! Hash: sha1:cb53bd07d07fa2b900587a24507f28d486e26014
--! Message: read replicas

-- Queries may be answered by a streaming replica, which is behind by as much as it is. What somebody has written they see all the same:
-- their grant remembers how far the primary's log was after it, and a replica that has not come so far says so.

drop function if exists app_hidden.require_replayed(pg_lsn);
drop function if exists oauth.written_lsn(uuid, uuid);

alter table oauth.grants add column if not exists written_lsn pg_lsn;
comment on column oauth.grants.written_lsn is
  'Where the log was after the last change by a token of this grant, or when its first token was presented; kept only for servers that ask a replica.';
-- How far the log is says nothing about access, and comes with each change.
select audit.record('oauth.grants', subject_id => 'user_id', derived => '{written_lsn}');

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

insert into audit.accepted (kind, object, who, reason) values
  ('definer', 'oauth.written_lsn(uuid, uuid)', 'graph_oauth', 'Asked together with whose a token is; until then there is no organization that a policy could ask for.')
  on conflict (kind, object, who) do update set reason = excluded.reason;
