--! Previous: sha1:353093f75582221289b94764c241b7ddf2f41631
--! Hash: sha1:0856e2ef15f71677efbc611c9e96f407da735784
--! Message: purge

-- The purge: the running server deletes what has expired, in batches, whatever organization it belongs to. Each subject has a function.
--
-- The policies of graph_purger on each table say what may go. So a mistake in a function deletes nothing that is alive.
-- Deliveries have theirs with the webhooks, and the history with its partitions.
--
-- What expires is at the front of an index by time, and so are the rows that are dead. Each purge would read these anew. So the tables are
-- vacuumed when a fiftieth of them is dead, and not a fifth.

-- A purge locks no organization. So it skips a row of a person that another transaction has locked, and deletes it another time.
-- It locks grants before their tokens, as everything does.
create function oauth.purge_tokens(batch int) returns table (access_tokens int, refresh_tokens int, grants int)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
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
  $$;
comment on function oauth.purge_tokens(int) is
  'Deletes at most so many expired access tokens and refresh tokens, and the grants that have none left, and says how many; no row when another session is at it.';

create function oauth.purge_authorization_codes(batch int) returns table (authorization_codes int)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
  begin
    -- Runs as graph_purger because what has expired belongs to every organization.
    if not pg_try_advisory_xact_lock(hashtextextended('oauth.purge', 0)) then
      return;
    end if;
    delete from oauth.authorization_codes where code_hash = any (array(
      select c.code_hash from oauth.authorization_codes c
      where c.expires_at <= statement_timestamp() - interval '1 day' order by c.expires_at limit purge_authorization_codes.batch
      for update skip locked));
    get diagnostics authorization_codes = row_count;
    return next;
  end
  $$;
comment on function oauth.purge_authorization_codes(int) is
  'Deletes at most so many codes that expired a day ago, and says how many; no row when another session is at it.';

create function oauth.purge_sessions(batch int) returns table (sessions int)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
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
  $$;
comment on function oauth.purge_sessions(int) is 'Deletes at most so many expired sessions, and says how many; no row when another session is at it.';

create function oauth.purge_throttles(batch int) returns table (throttles int)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
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
  $$;
comment on function oauth.purge_throttles(int) is 'Deletes at most so many counts whose window is over, and says how many; no row when another session is at it.';

create function oauth.purge_idempotency_keys(batch int) returns table (idempotency_keys int)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
  begin
    -- Runs as graph_purger because what has expired belongs to every organization.
    if not pg_try_advisory_xact_lock(hashtextextended('oauth.purge', 0)) then
      return;
    end if;
    delete from app_hidden.idempotency_keys as expired
    using (
      select k.organization_id, k.application_id, k.principal_id, k.role, k.key_hash
      from app_hidden.idempotency_keys k
      where k.expires_at <= statement_timestamp()
      order by k.expires_at
      limit purge_idempotency_keys.batch
    ) as k
    where expired.organization_id = k.organization_id and expired.application_id = k.application_id
      and expired.principal_id = k.principal_id and expired.role = k.role and expired.key_hash = k.key_hash;
    get diagnostics idempotency_keys = row_count;
    delete from app_hidden.idempotency_usage u where u.expires_at <= statement_timestamp();
    return next;
  end
  $$;
comment on function oauth.purge_idempotency_keys(int) is
  'Deletes at most so many expired answers and the counts of hours that are over, and says how many answers; no row when another session is at it.';

grant create on schema oauth to graph_purger;
alter function oauth.purge_tokens(int) owner to graph_purger;
alter function oauth.purge_authorization_codes(int) owner to graph_purger;
alter function oauth.purge_sessions(int) owner to graph_purger;
alter function oauth.purge_throttles(int) owner to graph_purger;
alter function oauth.purge_idempotency_keys(int) owner to graph_purger;
revoke create on schema oauth from graph_purger;
grant execute on function
  oauth.purge_tokens(int), oauth.purge_authorization_codes(int), oauth.purge_sessions(int), oauth.purge_throttles(int), oauth.purge_idempotency_keys(int)
  to graph_oauth, graph_admin;
