CREATE OR REPLACE FUNCTION app_hidden.claim_idempotency_key(key_hash bytea)
 RETURNS TABLE(state text, answer_ciphertext bytea)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
  $function$;
comment on function app_hidden.claim_idempotency_key(bytea) is 'Takes an idempotency key (by its SHA-256) until the end of the transaction: `claimed`; `answered`, with what; `in use` by another transaction; or `full`, since the organization or the person keeps too much.';
grant execute on function app_hidden.claim_idempotency_key(bytea) to graph_app;
grant execute on function app_hidden.claim_idempotency_key(bytea) to graph_basic;
grant execute on function app_hidden.claim_idempotency_key(bytea) to graph_user;
