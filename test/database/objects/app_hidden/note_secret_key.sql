CREATE OR REPLACE FUNCTION app_hidden.note_secret_key(INOUT salt bytea, INOUT checksum bytea)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET row_security TO 'on'
AS $function$
  begin
    -- Runs as graph_helper because a service that notes its key needs not change it.
    insert into app_hidden.secret_key_check (salt, checksum)
    select note_secret_key.salt, note_secret_key.checksum
    where not exists (select from app_hidden.secret_key_check)
    on conflict on constraint secret_key_check_pkey do nothing;
    select c.salt, c.checksum into salt, checksum from app_hidden.secret_key_check c;
  end
  $function$;
alter function app_hidden.note_secret_key(bytea,bytea) owner to graph_helper;
comment on function app_hidden.note_secret_key(bytea,bytea) is 'Notes the key by which the first service of this database seals; to a later one it gives the noted one.';
grant execute on function app_hidden.note_secret_key(bytea,bytea) to graph_admin;
grant execute on function app_hidden.note_secret_key(bytea,bytea) to graph_oauth;
