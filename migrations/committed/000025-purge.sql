--! Previous: sha1:975f32447dace265e3dd7052861b3c7d386bd4cd
--! Hash: sha1:b4ac06aa7c433b410958b116a03d9e8bbac248dc
--! Message: purge

-- The purge: the running server deletes what has expired, in batches, whatever organization it belongs to.
--
-- The policies of graph_purger on each table say what may go. So a mistake in a function deletes nothing that is alive.
-- The history and the feed have functions of their own, with their partitions.
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

create function oauth.purge_rows(kind text, batch int) returns table (purged int)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
  begin
    -- Runs as graph_purger because what has expired belongs to every organization.
    if not pg_try_advisory_xact_lock(hashtextextended('oauth.purge', 0)) then
      return;
    end if;
    case kind
      when 'authorization_codes' then
        delete from oauth.authorization_codes where code_hash = any (array(
          select c.code_hash from oauth.authorization_codes c
          where c.expires_at <= statement_timestamp() - interval '1 day' order by c.expires_at limit purge_rows.batch
          for update skip locked));
      when 'sessions' then
        delete from oauth.sessions where sid = any (array(
          select s.sid from oauth.sessions s
          where s.expire <= statement_timestamp() order by s.expire limit purge_rows.batch
          for update skip locked));
      when 'throttles' then
        delete from oauth.throttles where key in (
          select t.key from oauth.throttles t where t.expire <= extract(epoch from statement_timestamp()) * 1000 limit purge_rows.batch);
      when 'idempotency_keys' then
        delete from app_hidden.idempotency_usage u where u.expires_at <= statement_timestamp();
        delete from app_hidden.idempotency_keys where (organization_id, application_id, principal_id, role, key_hash) in (
          select k.organization_id, k.application_id, k.principal_id, k.role, k.key_hash from app_hidden.idempotency_keys k
          where k.expires_at <= statement_timestamp() order by k.expires_at limit purge_rows.batch);
      when 'deliveries' then
        -- They go with the changes that they are about.
        delete from app_public.webhook_deliveries where (organization_id, id) in (
          select d.organization_id, d.id from app_public.webhook_deliveries d
          where d.changed_at <= statement_timestamp() - feed.retention() order by d.changed_at limit purge_rows.batch);
    end case;
    get diagnostics purged = row_count;
    return next;
  end
  $$;
comment on function oauth.purge_rows(text, int) is
  'Deletes at most so many expired rows of a kind, and says how many: codes that expired a day ago, sessions, counts whose window is over, '
  'answers for idempotency keys, or deliveries whose changes are older than feed.retention; no row when another session is at it.';

grant create on schema oauth to graph_purger;
alter function oauth.purge_tokens(int) owner to graph_purger;
alter function oauth.purge_rows(text, int) owner to graph_purger;
revoke create on schema oauth from graph_purger;
grant execute on function oauth.purge_tokens(int), oauth.purge_rows(text, int) to graph_oauth, graph_admin;
