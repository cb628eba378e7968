--! Previous: sha1:fcbb6fdea3895f5b8dd8e373fc89f9d767e410c5
--! Hash: sha1:975f32447dace265e3dd7052861b3c7d386bd4cd
--! Message: idempotency keys

-- Idempotent mutations: the answer to a request with an Idempotency-Key is kept for a day, so that the request can be sent again.
-- The row is written in the transaction of the change: either both are there, or neither.
--
-- Each token reads the answers to its own application, person and role. An organization keeps a million answers at most, a person a thousand.

-- How much an organization keeps. The rows themselves would have to be counted, a million of them.

create table app_hidden.idempotency_usage (
  organization_id uuid not null,
  expires_at timestamptz not null,
  slot bigint not null,
  keys bigint not null,
  bytes bigint not null,
  constraint idempotency_usage_pkey primary key (organization_id, expires_at, slot),
  constraint idempotency_usage_organization_id_fkey foreign key (organization_id) references app_hidden.organizations on delete cascade
-- Room on each page: a count changes without touching the index.
) with (fillfactor = 50);
create index idempotency_usage_expires_at_idx on app_hidden.idempotency_usage (expires_at);
comment on table app_hidden.idempotency_usage is 'How many keys and bytes of answers an organization keeps, by the hour in which they expire.';
comment on column app_hidden.idempotency_usage.expires_at is 'The end of the hour.';
comment on column app_hidden.idempotency_usage.slot is 'One of four, by the hash of the key, so that transactions seldom wait for each other''s count.';

create table app_hidden.idempotency_keys (
  organization_id uuid not null,
  application_id uuid not null,
  principal_id uuid not null,
  role text not null,
  key_hash bytea not null,
  answer_ciphertext bytea not null,
  expires_at timestamptz not null default statement_timestamp() + interval '24 hours',
  constraint idempotency_keys_pkey primary key (organization_id, application_id, principal_id, role, key_hash),
  constraint idempotency_keys_application_id_fkey foreign key (organization_id, application_id) references oauth.applications on delete cascade,
  constraint idempotency_keys_role_known check (role in ('graph_app', 'graph_user', 'graph_basic')),
  constraint idempotency_keys_key_hash_length check (octet_length(key_hash) = 32),
  constraint idempotency_keys_answer_ciphertext_length check (octet_length(answer_ciphertext) >= 28)
) with (autovacuum_vacuum_scale_factor = 0.02);
-- Absent on purpose: a limit of the answer's length, which is that of any answer, LIMIT_BYTES; and a foreign key of the person, who may be what
-- the request has deleted. What is left then opens for no token, and is gone in a day.
create index idempotency_keys_expires_at_idx on app_hidden.idempotency_keys (expires_at);
-- What is encrypted cannot be compressed.
alter table app_hidden.idempotency_keys alter column answer_ciphertext set storage external;
comment on table app_hidden.idempotency_keys is 'The answers to requests with an Idempotency-Key, each for its application, person and role alone.';
comment on column app_hidden.idempotency_keys.principal_id is 'The person, or of an application''s own token the application.';
comment on column app_hidden.idempotency_keys.role is 'The role of the token: one that may read less gets no answer that another was given.';
comment on column app_hidden.idempotency_keys.key_hash is 'SHA-256 of the key. Not keyed: servers that change SECRET_KEY one after the other know the same keys.';
comment on column app_hidden.idempotency_keys.answer_ciphertext is 'The answer, AES-256-GCM under SECRET_KEY; it opens for the same principal, key and request alone.';

alter table app_hidden.idempotency_keys enable row level security, force row level security;
create policy all_graph_admin on app_hidden.idempotency_keys for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_hidden.idempotency_keys is 'Administration deletes answers along with their application.';
create policy select_graph_purger on app_hidden.idempotency_keys for select to graph_purger
  using (organization_id <> all ((select app_hidden.moving_organization_ids())::uuid[]));
comment on policy select_graph_purger on app_hidden.idempotency_keys is 'oauth.purge_rows looks for expired answers, but of no organization that is being moved, or has moved.';
create policy delete_graph_purger on app_hidden.idempotency_keys for delete to graph_purger using (expires_at <= statement_timestamp());
comment on policy delete_graph_purger on app_hidden.idempotency_keys is 'oauth.purge_rows deletes expired answers.';
-- Whose rows they are is the same for each role: those of the claims.
create policy all_graph_app on app_hidden.idempotency_keys for all to graph_app
  using (
    organization_id = (select app_hidden.current_organization_id())
    and application_id = (select app_hidden.current_application_id())
    and principal_id = coalesce((select app_hidden.current_user_id()), (select app_hidden.current_application_id()))
    and role = current_user)
  with check (
    organization_id = (select app_hidden.current_organization_id())
    and application_id = (select app_hidden.current_application_id())
    and principal_id = coalesce((select app_hidden.current_user_id()), (select app_hidden.current_application_id()))
    and role = current_user);
comment on policy all_graph_app on app_hidden.idempotency_keys is 'A token keeps and reads answers to its own application, person and role only.';
create policy all_graph_user on app_hidden.idempotency_keys for all to graph_user
  using (
    organization_id = (select app_hidden.current_organization_id())
    and application_id = (select app_hidden.current_application_id())
    and principal_id = coalesce((select app_hidden.current_user_id()), (select app_hidden.current_application_id()))
    and role = current_user)
  with check (
    organization_id = (select app_hidden.current_organization_id())
    and application_id = (select app_hidden.current_application_id())
    and principal_id = coalesce((select app_hidden.current_user_id()), (select app_hidden.current_application_id()))
    and role = current_user);
comment on policy all_graph_user on app_hidden.idempotency_keys is 'A token keeps and reads answers to its own application, person and role only.';
create policy all_graph_basic on app_hidden.idempotency_keys for all to graph_basic
  using (
    organization_id = (select app_hidden.current_organization_id())
    and application_id = (select app_hidden.current_application_id())
    and principal_id = coalesce((select app_hidden.current_user_id()), (select app_hidden.current_application_id()))
    and role = current_user)
  with check (
    organization_id = (select app_hidden.current_organization_id())
    and application_id = (select app_hidden.current_application_id())
    and principal_id = coalesce((select app_hidden.current_user_id()), (select app_hidden.current_application_id()))
    and role = current_user);
comment on policy all_graph_basic on app_hidden.idempotency_keys is 'A token keeps and reads answers to its own application, person and role only.';
grant select, insert, update, delete on app_hidden.idempotency_keys to graph_admin;
grant select, insert, delete on app_hidden.idempotency_keys to graph_app, graph_user, graph_basic;
-- Absent on purpose: update. What was answered does not change.
grant select (organization_id, application_id, principal_id, role, key_hash, expires_at), delete on app_hidden.idempotency_keys to graph_purger;

alter table app_hidden.idempotency_usage enable row level security, force row level security;
create policy all_graph_admin on app_hidden.idempotency_usage for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_hidden.idempotency_usage is 'Administration deletes counts along with their organization.';
create policy select_graph_helper on app_hidden.idempotency_usage for select to graph_helper using (true);
comment on policy select_graph_helper on app_hidden.idempotency_usage is 'A trigger counts one more.';
create policy insert_graph_helper on app_hidden.idempotency_usage for insert to graph_helper with check (true);
comment on policy insert_graph_helper on app_hidden.idempotency_usage is 'A trigger counts the first of an hour.';
create policy update_graph_helper on app_hidden.idempotency_usage for update to graph_helper using (true) with check (true);
comment on policy update_graph_helper on app_hidden.idempotency_usage is 'A trigger counts one more.';
create policy select_graph_purger on app_hidden.idempotency_usage for select to graph_purger
  using (organization_id <> all ((select app_hidden.moving_organization_ids())::uuid[]));
comment on policy select_graph_purger on app_hidden.idempotency_usage is 'oauth.purge_rows looks for hours that are over, but of no organization that is being moved, or has moved.';
create policy delete_graph_purger on app_hidden.idempotency_usage for delete to graph_purger using (expires_at <= statement_timestamp());
comment on policy delete_graph_purger on app_hidden.idempotency_usage is 'oauth.purge_rows deletes the counts of hours that are over.';
create policy select_graph_app on app_hidden.idempotency_usage for select to graph_app using (organization_id = (select app_hidden.current_organization_id()));
comment on policy select_graph_app on app_hidden.idempotency_usage is 'app_hidden.claim_idempotency_key asks how much the organization keeps.';
create policy select_graph_user on app_hidden.idempotency_usage for select to graph_user using (organization_id = (select app_hidden.current_organization_id()));
comment on policy select_graph_user on app_hidden.idempotency_usage is 'app_hidden.claim_idempotency_key asks how much the organization keeps.';
create policy select_graph_basic on app_hidden.idempotency_usage for select to graph_basic using (organization_id = (select app_hidden.current_organization_id()));
comment on policy select_graph_basic on app_hidden.idempotency_usage is 'app_hidden.claim_idempotency_key asks how much the organization keeps.';
grant select, insert, update, delete on app_hidden.idempotency_usage to graph_admin;
grant select on app_hidden.idempotency_usage to graph_app, graph_user, graph_basic;
grant select, insert, update (keys, bytes) on app_hidden.idempotency_usage to graph_helper;
grant select (organization_id, expires_at), delete on app_hidden.idempotency_usage to graph_purger;

create function app_hidden.count_idempotency_key() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
  begin
    -- Runs as graph_helper because no client role may change the counts.
    insert into app_hidden.idempotency_usage as usage (organization_id, expires_at, slot, keys, bytes)
    values (
      new.organization_id, date_trunc('hour', new.expires_at, 'UTC') + interval '1 hour', get_byte(new.key_hash, 0) % 4,
      1, octet_length(new.answer_ciphertext))
    on conflict on constraint idempotency_usage_pkey do update set keys = usage.keys + 1, bytes = usage.bytes + excluded.bytes;
    return null;
  end
  $$;
comment on function app_hidden.count_idempotency_key() is 'Adds a key and the bytes of its answer to the counts of the organization.';
grant create on schema app_hidden to graph_helper;
alter function app_hidden.count_idempotency_key() owner to graph_helper;
revoke create on schema app_hidden from graph_helper;

create trigger count_idempotency_key after insert on app_hidden.idempotency_keys
  for each row execute function app_hidden.count_idempotency_key();

create function app_hidden.claim_idempotency_key(key_hash bytea) returns table (state text, answer_ciphertext bytea)
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    own_organization_id uuid = app_hidden.current_organization_id();
    own_application_id uuid = app_hidden.current_application_id();
    own_principal_id uuid = coalesce(app_hidden.current_user_id(), own_application_id);
    kept record;
  begin
    -- Until the end of the transaction, however that comes: nobody waits for it, and nothing is left of a server that was killed.
    if not pg_try_advisory_xact_lock(hashtextextended(
      concat_ws(
        ' ', 'app_hidden.idempotency_keys', own_organization_id, own_application_id, own_principal_id, current_user,
        encode(claim_idempotency_key.key_hash, 'hex')), 0))
    then
      return query select 'in use', null::bytea;
      return;
    end if;
    -- Nor of one that hangs, or whose machine is gone without a word.
    perform set_config('idle_in_transaction_session_timeout', '10s', true);

    -- A statement after the lock sees what its last holder has committed.
    delete from app_hidden.idempotency_keys k
    where k.organization_id = own_organization_id and k.application_id = own_application_id and k.principal_id = own_principal_id
      and k.role = current_user and k.key_hash = claim_idempotency_key.key_hash and k.expires_at <= statement_timestamp();
    return query
      select 'answered', k.answer_ciphertext
      from app_hidden.idempotency_keys k
      where k.organization_id = own_organization_id and k.application_id = own_application_id and k.principal_id = own_principal_id
        and k.role = current_user and k.key_hash = claim_idempotency_key.key_hash;
    if found then
      return;
    end if;

    select sum(u.keys) as keys, sum(u.bytes) as bytes into kept
    from app_hidden.idempotency_usage u
    where u.organization_id = own_organization_id and u.expires_at > statement_timestamp();
    if kept.keys >= 1000000 or kept.bytes >= 250000000 then
      return query select 'full', null::bytea;
      return;
    end if;
    -- A person alone cannot use up what the organization may keep.
    if app_hidden.current_user_id() is not null then
      select count(*) as keys, sum(octet_length(k.answer_ciphertext)) as bytes into kept
      from app_hidden.idempotency_keys k
      where k.organization_id = own_organization_id and k.application_id = own_application_id and k.principal_id = own_principal_id;
      if kept.keys >= 1000 or kept.bytes >= 2500000 then
        return query select 'full', null::bytea;
        return;
      end if;
    end if;
    return query select 'claimed', null::bytea;
  end
  $$;
comment on function app_hidden.claim_idempotency_key(bytea) is
  'Takes an idempotency key (by its SHA-256) until the end of the transaction: `claimed`; `answered`, with what; `in use` by another transaction; or `full`, since the organization or the person keeps too much.';
grant execute on function app_hidden.claim_idempotency_key(bytea) to graph_app, graph_user, graph_basic;
