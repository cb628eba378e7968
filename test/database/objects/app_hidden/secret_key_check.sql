create table app_hidden.secret_key_check (
  is_only boolean default true not null,
  salt bytea not null,
  checksum bytea not null,
  constraint secret_key_check_pkey PRIMARY KEY (is_only),
  constraint secret_key_check_checksum_length CHECK (octet_length(checksum) = 32),
  constraint secret_key_check_one CHECK (is_only),
  constraint secret_key_check_salt_length CHECK (octet_length(salt) = 16)
);
comment on table app_hidden.secret_key_check is 'By which SECRET_KEY the service of this database seals.';
comment on column app_hidden.secret_key_check.checksum is 'HMAC-SHA-256 of the salt, under a subkey of SECRET_KEY.';

alter table app_hidden.secret_key_check enable row level security, force row level security;

create policy all_graph_admin on app_hidden.secret_key_check for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on app_hidden.secret_key_check is 'Administration compares and changes keys.';

create policy insert_graph_helper on app_hidden.secret_key_check for insert to graph_helper
  with check (is_only);
comment on policy insert_graph_helper on app_hidden.secret_key_check is 'app_hidden.note_secret_key notes the key of the first service.';

create policy select_graph_helper on app_hidden.secret_key_check for select to graph_helper
  using (is_only);
comment on policy select_graph_helper on app_hidden.secret_key_check is 'app_hidden.note_secret_key gives the noted one to a service, which compares it with its own.';

grant delete, insert, select, update on app_hidden.secret_key_check to graph_admin;
grant insert, select on app_hidden.secret_key_check to graph_helper;
