CREATE OR REPLACE FUNCTION app_hidden.count_idempotency_key()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    -- Runs as graph_helper because nobody may change the counts by hand.
    insert into app_hidden.idempotency_usage as usage (organization_id, expires_at, slot, keys, bytes)
    values (
      new.organization_id, date_trunc('hour', new.expires_at, 'UTC') + interval '1 hour', get_byte(new.key_hash, 0) % 4,
      1, octet_length(new.answer_ciphertext))
    on conflict on constraint idempotency_usage_pkey do update set keys = usage.keys + 1, bytes = usage.bytes + excluded.bytes;
    return null;
  end
  $function$;
alter function app_hidden.count_idempotency_key() owner to graph_helper;
comment on function app_hidden.count_idempotency_key() is 'Adds a key and the bytes of its answer to the counts of the organization.';
