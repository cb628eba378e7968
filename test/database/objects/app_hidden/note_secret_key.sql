CREATE OR REPLACE FUNCTION app_hidden.note_secret_key(salt bytea, checksum bytea)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    -- Runs as graph_helper because a service that notes its key needs not read or change it.
    if not exists (select from app_hidden.secret_key_check) then
      insert into app_hidden.secret_key_check (salt, checksum) values (note_secret_key.salt, note_secret_key.checksum)
      on conflict on constraint secret_key_check_pkey do nothing;
    end if;
  end
  $function$;
alter function app_hidden.note_secret_key(bytea,bytea) owner to graph_helper;
comment on function app_hidden.note_secret_key(bytea,bytea) is 'Notes the key by which the first service of this database seals; a later one changes nothing.';
grant execute on function app_hidden.note_secret_key(bytea,bytea) to graph_admin;
grant execute on function app_hidden.note_secret_key(bytea,bytea) to graph_oauth;
