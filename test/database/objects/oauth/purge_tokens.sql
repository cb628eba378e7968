CREATE OR REPLACE FUNCTION oauth.purge_tokens(batch integer)
 RETURNS TABLE(access_tokens integer, refresh_tokens integer, grants integer)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    organization_ids uuid[];
    grant_ids uuid[];
  begin
    -- Runs as graph_purger because what has expired belongs to every organization.
    if not pg_try_advisory_xact_lock(hashtextextended('oauth.purge', 0)) then
      return;
    end if;
    select array_agg(locked.organization_id), array_agg(locked.id) into organization_ids, grant_ids
    from (
      select g.organization_id, g.id
      from oauth.grants g
      where (g.organization_id, g.id) in (
        (select t.organization_id, t.grant_id from oauth.access_tokens t
         where t.expires_at <= statement_timestamp() order by t.expires_at limit purge_tokens.batch)
        union
        (select t.organization_id, t.grant_id from oauth.refresh_tokens t
         where t.expires_at <= statement_timestamp() order by t.expires_at limit purge_tokens.batch))
      for update skip locked
    ) as locked;

    delete from oauth.access_tokens where token_hash in (
      select t.token_hash
      from unnest(organization_ids, grant_ids) as locked (organization_id, id)
      join oauth.access_tokens t on t.organization_id = locked.organization_id and t.grant_id = locked.id
      where t.expires_at <= statement_timestamp()
      limit purge_tokens.batch);
    get diagnostics access_tokens = row_count;

    delete from oauth.refresh_tokens where token_hash in (
      select t.token_hash
      from unnest(organization_ids, grant_ids) as locked (organization_id, id)
      join oauth.refresh_tokens t on t.organization_id = locked.organization_id and t.grant_id = locked.id
      where t.expires_at <= statement_timestamp()
      limit purge_tokens.batch);
    get diagnostics refresh_tokens = row_count;

    -- A statement after the lock sees every token that was issued before it; the policy leaves the grants that have one.
    delete from oauth.grants g
    using unnest(organization_ids, grant_ids) as locked (organization_id, id)
    where g.organization_id = locked.organization_id and g.id = locked.id;
    get diagnostics grants = row_count;
    return next;
  end
  $function$;
alter function oauth.purge_tokens(integer) owner to graph_purger;
comment on function oauth.purge_tokens(integer) is 'Deletes at most so many expired access tokens and refresh tokens, and the grants that have none left, and says how many; no row when another session is at it.';
grant execute on function oauth.purge_tokens(integer) to graph_admin;
grant execute on function oauth.purge_tokens(integer) to graph_oauth;
