CREATE OR REPLACE FUNCTION oauth.written_lsn(organization_id uuid, grant_id uuid)
 RETURNS pg_lsn
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
  $function$;
alter function oauth.written_lsn(uuid,uuid) owner to graph_helper;
comment on function oauth.written_lsn(uuid,uuid) is 'What a replica must have replayed to show the holder of a grant what they have written; null when it is not known.';
grant execute on function oauth.written_lsn(uuid,uuid) to graph_oauth;
