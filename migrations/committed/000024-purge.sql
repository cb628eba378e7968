--! Previous: sha1:883b41a39df94fc181558143da4601e4a65bdda9
--! Hash: sha1:350cef19a1e24a23080206807dd8a6a4ca8433b6
--! Message: purge

-- The purge: the running server deletes what has expired, in batches, whatever organization it belongs to.
--
-- The policies of graph_helper on each table say what may go. So a mistake in the function deletes nothing that is alive.

create function oauth.purge(batch int)
  returns table (access_tokens int, refresh_tokens int, grants int, authorization_codes int, sessions int, throttles int, idempotency_keys int)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
  declare
    organization_ids uuid[];
    grant_ids uuid[];
  begin
    -- Runs as graph_helper because what has expired belongs to every organization.
    if not pg_try_advisory_xact_lock(hashtextextended('oauth.purge', 0)) then
      return;
    end if;

    -- Grants before their tokens, as everybody locks them. One that is in use is left for another time.
    select array_agg(locked.organization_id), array_agg(locked.id) into organization_ids, grant_ids
    from (
      select g.organization_id, g.id
      from oauth.grants g
      where (g.organization_id, g.id) in (
        (select t.organization_id, t.grant_id from oauth.access_tokens t
         where t.expires_at <= statement_timestamp() order by t.expires_at limit purge.batch)
        union
        (select t.organization_id, t.grant_id from oauth.refresh_tokens t
         where t.expires_at <= statement_timestamp() order by t.expires_at limit purge.batch))
      for update skip locked
    ) as locked;

    delete from oauth.access_tokens where token_hash in (
      select t.token_hash
      from unnest(organization_ids, grant_ids) as locked (organization_id, id)
      join oauth.access_tokens t on t.organization_id = locked.organization_id and t.grant_id = locked.id
      where t.expires_at <= statement_timestamp()
      limit purge.batch);
    get diagnostics access_tokens = row_count;

    delete from oauth.refresh_tokens where token_hash in (
      select t.token_hash
      from unnest(organization_ids, grant_ids) as locked (organization_id, id)
      join oauth.refresh_tokens t on t.organization_id = locked.organization_id and t.grant_id = locked.id
      where t.expires_at <= statement_timestamp()
      limit purge.batch);
    get diagnostics refresh_tokens = row_count;

    -- A statement after the lock sees every token that was issued before it; the policy leaves the grants that have one.
    delete from oauth.grants g
    using unnest(organization_ids, grant_ids) as locked (organization_id, id)
    where g.organization_id = locked.organization_id and g.id = locked.id;
    get diagnostics grants = row_count;

    delete from oauth.authorization_codes where code_hash in (
      select c.code_hash from oauth.authorization_codes c
      where c.expires_at <= statement_timestamp() - interval '1 day' order by c.expires_at limit purge.batch);
    get diagnostics authorization_codes = row_count;

    delete from oauth.sessions where sid in (
      select s.sid from oauth.sessions s
      where s.expire <= statement_timestamp() order by s.expire limit purge.batch);
    get diagnostics sessions = row_count;

    delete from oauth.throttles where key in (
      select t.key from oauth.throttles t
      where t.expire <= extract(epoch from statement_timestamp()) * 1000 limit purge.batch);
    get diagnostics throttles = row_count;

    delete from app_hidden.idempotency_keys as expired
    using (
      select k.organization_id, k.application_id, k.principal_id, k.role, k.key_hash
      from app_hidden.idempotency_keys k
      where k.expires_at <= statement_timestamp()
      order by k.expires_at
      limit purge.batch
    ) as k
    where expired.organization_id = k.organization_id and expired.application_id = k.application_id
      and expired.principal_id = k.principal_id and expired.role = k.role and expired.key_hash = k.key_hash;
    get diagnostics idempotency_keys = row_count;
    delete from app_hidden.idempotency_usage u where u.expires_at <= statement_timestamp();
    return next;
  end
  $$;
comment on function oauth.purge(int) is 'Deletes at most so many rows of each kind that have expired, and says how many; no row when another session is at it.';
grant create on schema oauth to graph_helper;
alter function oauth.purge(int) owner to graph_helper;
revoke create on schema oauth from graph_helper;
grant execute on function oauth.purge(int) to graph_oauth, graph_admin;
