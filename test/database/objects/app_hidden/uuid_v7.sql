CREATE OR REPLACE FUNCTION app_hidden.uuid_v7()
 RETURNS uuid
 LANGUAGE plpgsql
 PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    microseconds bigint = extract(epoch from clock_timestamp()) * 1000000;
  begin
    -- 48 bits of milliseconds, the version and 12 bits of what is below a millisecond, the variant and 62 random bits.
    return encode(
      substring(int8send(microseconds / 1000) from 3)
      || int2send((x'7000'::int + microseconds % 1000 * 4096 / 1000)::int2)
      || substring(uuid_send(gen_random_uuid()) from 9),
      'hex');
  end
  $function$;
comment on function app_hidden.uuid_v7() is 'A new UUID version 7 (RFC 9562); PostgreSQL has its own from 18 on.';
grant execute on function app_hidden.uuid_v7() to graph_admin;
grant execute on function app_hidden.uuid_v7() to graph_app;
grant execute on function app_hidden.uuid_v7() to graph_oauth;
grant execute on function app_hidden.uuid_v7() to graph_worker;
