--! Previous: sha1:98c4e06919bea7f5c3ede754c931d7f47526565c
--! Hash: sha1:389f2185981339be6a70c997023caef598c85f9b
--! Message: compare the secret key

-- A service compares its SECRET_KEY with the noted one before it serves, so it is given salt and checksum, which give no key away.
drop function if exists app_hidden.note_secret_key(bytea, bytea);
create function app_hidden.note_secret_key(inout salt bytea, inout checksum bytea)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
  begin
    -- Runs as graph_helper because a service that notes its key needs not change it.
    insert into app_hidden.secret_key_check (salt, checksum)
    select note_secret_key.salt, note_secret_key.checksum
    where not exists (select from app_hidden.secret_key_check)
    on conflict on constraint secret_key_check_pkey do nothing;
    select c.salt, c.checksum into salt, checksum from app_hidden.secret_key_check c;
  end
  $$;
comment on function app_hidden.note_secret_key(bytea, bytea) is
  'Notes the key by which the first service of this database seals; to a later one it gives the noted one.';
grant create on schema app_hidden to graph_helper;
alter function app_hidden.note_secret_key(bytea, bytea) owner to graph_helper;
revoke create on schema app_hidden from graph_helper;
grant execute on function app_hidden.note_secret_key(bytea, bytea) to graph_oauth, graph_admin;
delete from audit.accepted where kind = 'definer' and object = 'app_hidden.note_secret_key(bytea, bytea)';
insert into audit.accepted (kind, object, who, reason) values
  ('definer', 'app_hidden.note_secret_key(bytea, bytea)', 'graph_admin, graph_oauth',
    'Notes a checksum if there is none, and gives the noted one, which tells nothing without SECRET_KEY.');
